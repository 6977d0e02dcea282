"""What adoption found and did, in words for whoever runs `migrate`."""

from dataclasses import dataclass, field

from jobs.domain.errors import JobsError


@dataclass(frozen=True)
class Finding:
    """Something about a table that is not as we would have made it. `fatal`: the queue cannot work on it."""

    table: str
    words: str
    fatal: bool = False

    def __str__(self) -> str:
        return f'"{self.table}": {self.words}'


@dataclass
class Report:
    """`added`: what was missing. `findings`: what is there and was left as it is."""

    added: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """The report, a line each."""
        return [f"added {one}" for one in self.added] + [f"left as it is: {one}" for one in self.findings]


class AdoptionRefused(JobsError):
    """Tables are there that the queue cannot work on; nothing was changed."""

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(
            "the database has tables of another program that cannot be used; nothing was changed:\n"
            + "\n".join(f"  {one}" for one in findings)
        )
