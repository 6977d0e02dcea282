"""Which programming language a text is in: by the name's end where it is one of a language, else by what only code has."""

import re

_BY_SUFFIX = {
    "py": "Python", "pyw": "Python", "js": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript", "jsx": "JavaScript",
    "ts": "TypeScript", "tsx": "TypeScript", "java": "Java", "kt": "Kotlin", "kts": "Kotlin", "groovy": "Groovy",
    "cs": "C#", "rb": "Ruby", "go": "Go", "php": "PHP", "sh": "Shell", "bash": "Shell", "zsh": "Shell", "ps1": "PowerShell",
    "bat": "Batch", "cmd": "Batch", "sql": "SQL", "robot": "Robot Framework", "resource": "Robot Framework", "scala": "Scala",
    "swift": "Swift", "rs": "Rust", "c": "C", "h": "C", "cpp": "C++", "pl": "Perl", "lua": "Lua", "vbs": "VBScript",
    "proto": "Protocol Buffers", "graphql": "GraphQL", "gql": "GraphQL", "css": "CSS", "tf": "Terraform",
    "puml": "PlantUML", "plantuml": "PlantUML", "mmd": "Mermaid", "mermaid": "Mermaid", "dsl": "Structurizr",
    "feature": "Gherkin", "raml": "RAML", "apib": "API Blueprint",
}  # fmt: skip
_PROSE = frozenset({"md", "markdown", "mdx", "rst", "adoc", "html", "htm", "csv", "tsv", "json", "yml", "yaml"})
# Asked in this order, of the first part of a text. All patterns of a language must be found: one pattern for both ends of a
# text would be searched again from each of its beginnings.
_BY_CONTENT: list[tuple[str, list[re.Pattern[str]]]] = [
    (name, [re.compile(pattern, re.M) for pattern in patterns])
    for name, *patterns in (
        (
            "Gherkin",
            r"^[ \t]*(?:Feature|Funktionalit\u00e4t|Funktion|Fonctionnalit\u00e9|Caracter\u00edstica|Funcionalidade|Funzionalit\u00e0|Functionaliteit)[ \t]*:",
            r"^[ \t]*(?:Scenario|Scenario Outline|Example|Rule|Background|Szenario|Szenariogrundriss|Sc\u00e9nario|Escenario|Cen\u00e1rio|Contexte|Antecedentes)\b[^\n:]{0,20}:",
            r"^[ \t]*(?:Given|When|Then|And|But|\*|Angenommen|Wenn|Dann|Und|Soit|Quand|Alors|Etant donn\u00e9|Dado|Dada|Cuando|Entonces|Quando|Ent\u00e3o)\b",
        ),
        ("PlantUML", r"^[ \t]*@start(?:uml|mindmap|salt|json|yaml)\b"),
        ("Mermaid", r"\A\s*(?:sequenceDiagram|classDiagram|erDiagram|stateDiagram(?:-v2)?|C4Context|C4Container|(?:flowchart|graph)[ \t]+(?:TB|TD|LR|RL|BT))\b"),
        ("Structurizr", r"\A\s*workspace\b[^\n]*\{", r"^[ \t]*model\s*\{"),
        ("Robot Framework", r"^\*{3}[ \t]*(?i:Settings|Test Cases|Keywords|Variables|Tasks)[ \t]*\*{3}"),
        ("Shell", r"\A#!.*\b(?:ba|z|k|da)?sh\b"),
        ("Python", r"\A#!.*\bpython"),
        ("JavaScript", r"\A#!.*\bnode"),
        ("API Blueprint", r"\AFORMAT:[ \t]*1A\b"),
        ("RAML", r"\A#%RAML\s"),
        ("PHP", r"\A\s*<\?php\b"),
        ("Protocol Buffers", r"^[ \t]*syntax\s*=\s*\"proto[23]\"\s*;"),
        ("GraphQL", r"^(?:extend[ \t]+)?(?:type|input|interface|enum|schema|scalar)\b[^\n{]{0,80}\{[ \t]*$", r"^[ \t]+\w+(?:\([^)\n]*\))?[ \t]*:[ \t]*\[?\w+!?\]?!?[ \t]*$"),
        ("Java", r"^(?:package[ \t]+[\w.]+;|import[ \t]+(?:static[ \t]+)?[\w.]+(?:\.\*)?;)[ \t]*$", r"\b(?:class|interface|enum)[ \t]+\w+"),
        ("C#", r"^using[ \t]+[\w.]+;[ \t]*$", r"\b(?:namespace|class)[ \t]+[\w.]+"),
        ("TypeScript", r"^import[ \t]+(?:type[ \t]+)?[\w{}*, \t]+[ \t]from[ \t]+['\"][^'\"\n]+['\"];?[ \t]*$", r":[ \t]*(?:string|number|boolean|Page|Promise<)"),
        ("JavaScript", r"^(?:import[ \t]+[\w{}*, \t]+[ \t]from[ \t]+['\"][^'\"\n]+['\"]|(?:const|let|var)[ \t]+[\w{}, ]+[ \t]*=[ \t]*require\(['\"]|(?:describe|test|it)\([ \t]*['\"`])"),
        ("Python", r"^(?:from[ \t]+[\w.]+[ \t]+import[ \t]+[\w*(]|import[ \t]+[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*$|def[ \t]+\w+\([^\n]*\)[^\n:]*:[ \t]*$|class[ \t]+\w+(?:\([^\n]*\))?:[ \t]*$)"),
        ("Ruby", r"^require[ \t]+['\"][\w/-]+['\"][ \t]*$", r"\bend[ \t]*$"),
        ("SQL", r"^[ \t]*(?i:CREATE[ \t]+(?:OR[ \t]+REPLACE[ \t]+)?(?:TABLE|VIEW|INDEX|SCHEMA|DATABASE)|INSERT[ \t]+INTO|ALTER[ \t]+TABLE|SELECT[ \t]+[\w*,. \t]{1,200}[ \t]FROM)\b"),
    )
]  # fmt: skip


def language_of(suffix: str, text: str) -> str:
    """The language, or empty for what is no code."""
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    head = text[:20_000]
    if suffix in _PROSE:
        return ""
    return next((name for name, patterns in _BY_CONTENT if all(one.search(head) for one in patterns)), "")
