"""What the API server answers when it does not do what was asked.

ApiError
├── Conflict     409: the object is not as it was when it was read
├── Refused      other 4xx: asked again it is refused again
├── Unavailable  429, 5xx, or no answer: it may have been done nevertheless
└── NotLeading   not asked at all: another operator may hold the Lease by now
"""

from hudi_operator.reconcile.home import HomeError


class ApiError(HomeError):
    """The message says what was asked and what was answered."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class Conflict(ApiError): ...


class Refused(ApiError): ...


class Unavailable(ApiError): ...


class NotLeading(ApiError): ...
