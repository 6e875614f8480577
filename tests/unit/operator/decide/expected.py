"""A decision in one line, so that a case of the table says what is expected in one line."""

from hudi_operator.decision import Decision, Forget, RemoveAnnotation, SetFinalizer, Start, Stop


def shown(decision: Decision) -> str:
    """`State Reason: act`; `!` before it if it is stalled, `+` if it is ready, `~` if it is under way."""
    by = {str(said.condition): said for said in decision.said}
    marks = "".join(
        mark for mark, name in (("+", "Ready"), ("~", "Reconciling"), ("!", "Stalled")) if by[name].status == "True"
    )
    return f"{marks}{decision.state} {by['Ready'].reason}: {act_of(decision)}"


def act_of(decision: Decision) -> str:
    match decision.act:
        case None:
            return "-"
        case Start(order):
            kinds = order.request.kinds if len(order.request.kinds) > 1 else ()
            return f"{order.request.action} {order.trigger} #{order.attempt}{' of ' if kinds else ''}{' '.join(kinds)}"
        case Stop():
            return "stop"
        case Forget(runs):
            return f"forget {len(runs)}"
        case SetFinalizer(is_wanted):
            return "finalizer" if is_wanted else "no finalizer"
        case RemoveAnnotation(name):
            return f"remove {name.rpartition('/')[2]}"
