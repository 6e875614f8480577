"""Which blocks of a file slice count, and in which order they apply: section 5.4, rules 2 to 4."""

from collections.abc import Callable, Iterable

from hudi_engine.errors import Contradiction, Unsupported
from hudi_engine.format.log.block import ROLLBACK, BlockType, HeaderKey, LogBlock


def live_blocks(blocks: Iterable[LogBlock], is_valid_instant: Callable[[str], bool]) -> list[LogBlock]:
    """The data and delete blocks that count, in the order in which they apply.

    `blocks` are those of all log files of the slice, files in their order. `is_valid_instant` says whether the blocks
    of a commit may be seen at all. A rollback undoes the blocks of the instant it names that stand before it,
    never its neighbours.
    """
    return _with_compacted(_by_instant(blocks, is_valid_instant))


def _by_instant(blocks: Iterable[LogBlock], is_valid_instant: Callable[[str], bool]) -> dict[str, list[LogBlock]]:
    """Blocks that no rollback undoes, by instant, instants in the order of their first block."""
    found: dict[str, list[LogBlock]] = {}
    for block in blocks:
        match block.type:
            case BlockType.CORRUPT:
                continue
            case BlockType.COMMAND:
                found.pop(_rolled_back(block), None)
            case BlockType.CDC_DATA:
                raise Unsupported(f"a change-data block among those to merge, at offset {block.offset}")
            case _ if is_valid_instant(block.instant):
                found.setdefault(block.instant, []).append(block)
    return found


def _rolled_back(block: LogBlock) -> str:
    if (command := block.require(HeaderKey.COMMAND_BLOCK_TYPE)) != ROLLBACK:
        raise Unsupported(f"the command {command!r} in the log block at offset {block.offset}")
    return block.require(HeaderKey.TARGET_INSTANT_TIME)


def _with_compacted(found: dict[str, list[LogBlock]]) -> list[LogBlock]:
    """Log-compacted blocks stand where the newest of the blocks they replace stood; those are left out."""
    final: dict[str, str] = {}
    order: list[str] = []
    placed: set[str] = set()
    for instant in reversed(found):
        listed = found[instant][0].header.get(HeaderKey.COMPACTED_BLOCK_TIMES)
        if listed is not None:
            for original in listed.split(","):
                final[original] = final.get(instant, instant)
        elif (place := final.get(instant, instant)) not in placed:
            placed.add(place)
            order.append(place)
    if lost := set(final.values()) - placed:
        # Java would pass over such blocks without a word, and their records with them.
        raise Contradiction(f"log-compacted blocks of {sorted(lost)} stand without any block that they replace")
    return [block for instant in reversed(order) for block in found[instant]]
