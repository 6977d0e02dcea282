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
GHERKIN = re.compile(
    r"^\s*(?:Feature|Funktionalit\u00e4t|Funktion|Fonctionnalit\u00e9|Caracter\u00edstica|Funcionalidade|Funzionalit\u00e0|Functionaliteit)\s*:"
    r"[\s\S]*?^\s*(?:Scenario|Scenario Outline|Example|Rule|Background|Szenario|Szenariogrundriss|Sc\u00e9nario|Escenario|Cen\u00e1rio|Contexte|Antecedentes)\b[^\n]*:",
    re.M,
)
# Asked in this order, of the first part of a text. Each is what nothing but that language says.
_BY_CONTENT = [
    ("Gherkin", GHERKIN),
    ("PlantUML", re.compile(r"^\s*@start(?:uml|mindmap|salt|json|yaml)\b", re.M)),
    ("Mermaid", re.compile(r"\A\s*(?:---[\s\S]*?---\s*)?(?:sequenceDiagram|classDiagram|erDiagram|stateDiagram(?:-v2)?|C4Context|C4Container|(?:flowchart|graph)\s+(?:TB|TD|LR|RL|BT))\b")),
    ("Structurizr", re.compile(r"\A\s*workspace\b[^\n]*\{[\s\S]*\bmodel\s*\{")),
    ("Robot Framework", re.compile(r"^\*{3}\s*(?:Settings|Test Cases|Keywords|Variables|Tasks)\s*\*{3}", re.M | re.I)),
    ("Shell", re.compile(r"\A#!.*\b(?:ba|z|k|da)?sh\b")),
    ("Python", re.compile(r"\A#!.*\bpython")),
    ("JavaScript", re.compile(r"\A#!.*\bnode")),
    ("API Blueprint", re.compile(r"\AFORMAT:\s*1A\b")),
    ("RAML", re.compile(r"\A#%RAML\s")),
    ("Protocol Buffers", re.compile(r"^\s*syntax\s*=\s*\"proto[23]\"\s*;", re.M)),
    ("GraphQL", re.compile(r"^(?:extend\s+)?(?:type|input|interface|enum|schema|scalar)\s+\w*[^\n]*\{?\s*$[\s\S]*^\s+\w+(?:\([^)]*\))?\s*:\s*\[?\w+!?\]?!?", re.M)),
    ("Java", re.compile(r"^(?:package\s+[\w.]+;|import\s+(?:static\s+)?[\w.]+(?:\.\*)?;)\s*$[\s\S]*\b(?:class|interface|enum)\s+\w+", re.M)),
    ("C#", re.compile(r"^using\s+[\w.]+;\s*$[\s\S]*\b(?:namespace|class)\s+[\w.]+", re.M)),
    ("TypeScript", re.compile(r"^import\s+(?:type\s+)?[\w{}*, \n]+\s+from\s+['\"][^'\"]+['\"];?\s*$[\s\S]*:\s*(?:string|number|boolean|Page|Promise<)\b", re.M)),
    ("JavaScript", re.compile(r"^(?:import\s+[\w{}*, \n]+\s+from\s+['\"][^'\"]+['\"]|(?:const|let|var)\s+[\w{}, ]+\s*=\s*require\(['\"]|(?:describe|test|it)\(\s*['\"`])", re.M)),
    ("Python", re.compile(r"^(?:from\s+[\w.]+\s+import\s+[\w*(]|import\s+[\w.]+(?:\s+as\s+\w+)?\s*$|def\s+\w+\(.*\).*:\s*$|class\s+\w+(?:\(.*\))?:\s*$)", re.M)),
    ("Ruby", re.compile(r"^require\s+['\"][\w/-]+['\"]\s*$[\s\S]*\bend\s*$", re.M)),
    ("PHP", re.compile(r"\A\s*<\?php\b")),
    ("SQL", re.compile(r"^\s*(?:CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|INDEX|SCHEMA|DATABASE)|INSERT\s+INTO|ALTER\s+TABLE|SELECT\s+[\w*,.\s]+\s+FROM)\b", re.M | re.I)),
]  # fmt: skip


def language_of(suffix: str, text: str) -> str:
    """The language, or empty for what is no code."""
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    head = text[:20_000]
    if suffix in _PROSE:
        return ""
    return next((name for name, pattern in _BY_CONTENT if pattern.search(head)), "")
