"""What prose says of its type: phrases with weights, as data.

A phrase counts up to its limit, so that a long document is not judged by one word that it repeats. In a title it weighs
five times, in a heading twice.
"""

import re
from dataclasses import dataclass

from jobs.artifacts.doctypes import DocType


@dataclass(frozen=True)
class Signal:
    """`most`: how many of its occurrences in the text count."""

    doc_type: DocType
    weight: float
    pattern: re.Pattern[str]
    most: int = 4
    title: bool = True
    """Does it weigh more in a title or a heading?"""


def _s(doc_type: DocType, weight: float, pattern: str, most: int = 4, title: bool = True) -> Signal:
    return Signal(doc_type, weight, re.compile(pattern, re.I | re.M), most, title)


_D = DocType
SIGNALS: tuple[Signal, ...] = (
    # --- Stories ---
    _s(_D.USER_STORY, 5.0, r"\bas (?:an?|the|someone|somebody|one of) [^.;:\n]{2,90}?,?\s+i(?:'d| would)?\s+(?:want|need|like|can|should be able|wish)\b", 4),
    _s(_D.USER_STORY, 5.0, r"\bals (?:eine?r? )?[^.;:\n]{2,80}?,? (?:m\u00f6chte|will) ich\b|\ben tant que? [^.;:\n]{2,80}?,? je (?:veux|souhaite)\b|\bcomo (?:una? )?[^.;:\n]{2,80}?,? (?:quiero|quero)\b", 4),
    _s(_D.USER_STORY, 5.0, r"\bcomo (?:uma? )?[^.;:\n]{2,80}?,? eu (?:quero|gostaria)\b|\bcome [^.;:\n]{2,80}?,? voglio\b|\bjako [^.;:\n]{2,80}?,? chcę\b|\bкак [^.;:\n]{2,80}?,? я хочу\b|\blà (?:một )?[^.;:\n]{2,80}?,? tôi muốn\b|作为[^。\n]{1,40}[，,] ?我(?:想|希望|要)", 4),
    _s(_D.USER_STORY, 0.8, r"\bso that (?:i|we|my|they|the)\b", 4, False),
    _s(_D.USER_STORY, 2.0, r"\buser stor(?:y|ies)\b", 3),
    _s(_D.USER_STORY, 0.8, r"\b(?:story points?|epics?|backlog|definition of (?:done|ready)|sprint)\b", 3, False),
    # --- Requirements ---
    _s(_D.REQUIREMENTS, 1.0, r"\b(?:system|application|app|software|platform|product|solution|service|portal|tool|website|interface|module|device|user|users|customers?|it|we|they) (?:shall|must|should|will need to|needs? to|has to)\b", 8, False),
    _s(_D.REQUIREMENTS, 1.2, r"\b(?:(?:das|die|der) \w+|nutzer\w*|benutzer\w*|kunden?|system|anwendung) (?:muss|m\u00fcssen|soll|sollen|sollte)\b|\b(?:le|la|l'|les) ?\w+ (?:doit|doivent)\b|\b(?:el|la|los) \w+ (?:debe|deber\u00e1|deben)\b", 6, False),
    _s(_D.REQUIREMENTS, 0.7, r"\bshall\b|\bmust(?: not)?\b", 8, False),
    _s(_D.REQUIREMENTS, 1.0, r"^#* ?(?:what it must do|must[- ]haves?|goals?|non-?goals|not included|open questions|problem|needs|users? needs|objectives?|in scope)\b", 4, False),
    _s(_D.REQUIREMENTS, 1.2, r"\b(?:FR|NFR|REQ|BR|SRS|UR|SR|RQ|R)[-_. ]?\d{1,4}\b", 6, False),
    _s(_D.REQUIREMENTS, 1.6, r"\b(?:non-?)?functional requirements?\b|\bnichtfunktionale|\bexigences?\b|\brequisitos?\b|\banforderung(?:en)?\b|\blastenheft\b|\bpflichtenheft\b|\bfachkonzept\b|\bcahier des charges\b|\bpliego\b", 4),
    _s(_D.REQUIREMENTS, 1.4, r"\brequirements?\b", 5),
    _s(_D.REQUIREMENTS, 1.0, r"\b(?:acceptance criteria|out of scope|in scope|stakeholders?|assumptions|constraints|success metrics|must[- ]have|problem statement|business need)\b", 4),
    _s(_D.REQUIREMENTS, 2.0, r"\b(?:product requirements?|PRD|SRS|BRD|requirements? specification|functional specification|feature (?:specification|brief|request)|product brief|business rules?)\b", 3),
    _s(_D.REQUIREMENTS, 0.8, r"\bspecification\b", 2),
    _s(_D.REQUIREMENTS, 1.6, r"\bwymagan\w+|\brequisit[io]s?\b|\bтребовани\w+|\byêu cầu|\b(?:tính|chức) năng|\bgereksinim|\bαπαιτήσ\w+|\bzahtjev\w*|需求|要件|要求仕様|요구 ?사항", 5),
    # --- Test cases ---
    _s(_D.TEST_CASES, 1.3, r"\bTC[-_ ]?[A-Z]{0,8}[-_ ]?\d+", 6, False),
    _s(_D.TEST_CASES, 1.7, r"\bexpected (?:results?|outcomes?|behaviou?rs?)\b|\berwartetes (?:ergebnis|verhalten)\b|\br\u00e9sultat attendu\b|\bresultado esperado\b", 5, False),
    _s(_D.TEST_CASES, 1.3, r"\btest (?:cases?|steps?|scenarios?|suites?|checklists?|scripts?|plan|charter)\b|\btestf\u00e4lle?\b|\bcas de test\b|\bcasos? de prueba\b", 5),
    _s(_D.TEST_CASES, 1.2, r"\bpre-?conditions?\b|\bvorbedingung(?:en)?\b", 4, False),
    _s(_D.TEST_CASES, 1.2, r"\bexpected?:|\bexpect(?:ation)?s?:|\berwartet:|\battendu ?:|\besperado:", 5, False),
    _s(_D.TEST_CASES, 1.2, r"\b(?:scenarios|cases|things|steps) to (?:check|test|verify|try)\b|\b(?:manual|exploratory|acceptance) test(?:s|ing)?\b|\bto be tested\b", 3),
    _s(_D.TEST_CASES, 0.8, r"^[ \t]*(?:[-*\d.)]+\s*)?\**(?:given|when|then|verify|check that|steps?|expect(?:ed)?)\b(?![(.])", 8, False),
    _s(_D.TEST_CASES, 1.0, r"\b(?:actual results?|pass/fail|post-?conditions?|regression (?:test|checklist)|smoke test)\b", 3),
    _s(_D.TEST_CASES, 1.7, r"\bprzypadk\w+ testow\w+|\bcas[io] di test\b|\bcasos? de teste\b|\bresultado esperado\b|\bтест-?кейс|\bожидаем\w+ результат|\bca kiểm thử|\bkết quả mong đợi|\btest senaryo|\bbeklenen sonuç|测试用例|预期结果|テストケース|期待結果|테스트 ?케이스|기대 ?결과|예상 ?결과", 5),
    # --- Reports ---
    _s(_D.REPORT, 3.0, r"\bsteps to reproduce\b|\b(?:bug|defect|issue) (?:report|id)\b", 2),
    _s(_D.REPORT, 1.0, r"\bactual (?:results?|behaviou?rs?)\b|^#* ?(?:severity|reproducib\w+)\b", 3, False),
    _s(_D.REPORT, 1.7, r"\bотч[её]т|\bbáo cáo\b|\brelatório|\brelazione\b|\braport\b|\brapor\b|报告|報告|보고서|レポート", 3),
    _s(_D.REPORT, 1.7, r"\breport\b(?! (?:an?|any|the|them|it|security|bugs?|issues?|to)\b)|bericht\b|\bpen ?test\b|\bcoverage\b|\b\w*bericht\b|\brapport\b|\binforme\b|\bcompte[- ]rendu\b", 3),
    _s(_D.REPORT, 1.5, r"\b(?:executive summary|management summary|findings|root cause|post-?mortem|lessons learned|key results|test (?:results?|summary))\b", 5),
    _s(_D.REPORT, 0.5, r"\btest (?:execution|run)\b", 2),
    _s(_D.REPORT, 1.2, r"\b\d[\d,.]*\s*(?:%\s*)?(?:tests? )?(?:passed|failed|skipped|blocked|passes|failures)\b|\b(?:passed|failed|skipped|pass rate|failures|errors)\s*[:=|]\s*\d", 6, False),
    _s(_D.REPORT, 0.9, r"\b(?:incident|conclusions?|recommendations?|action items|outage|time ?line|retrospective|audit|year[- ]over[- ]year|quarter|pass rate|defects?|what went (?:well|wrong))\b", 6),
    _s(_D.REPORT, 1.2, r"\b\d+ (?:tests? |f\u00e4lle )?(?:bestanden|fehlgeschlagen|r\u00e9ussis?|\u00e9chou\u00e9s?|superad[ao]s|fallid[ao]s)\b", 4, False),
    _s(_D.REPORT, 1.0, r"^#* ?(?:done|erledigt|highlights|achievements|progress|blockers|problems?|probleme|risks|next (?:week|steps|month|sprint)|n\u00e4chste (?:woche|schritte)|ergebnisse?|fazit|zusammenfassung|results?)\b", 5, False),
    _s(_D.REPORT, 0.8, r"\b(?:penetration|load|performance|security|usability|stress) test(?:ing)?\b", 2),
    _s(_D.REPORT, 0.7, r"\b(?:status|weekly|monthly|quarterly|annual) (?:report|summary|review|update)\b", 2),
    # --- Architecture ---
    _s(_D.ARCHITECTURE, 1.4, r"\barchitectur(?:e|al)\b|\b\w*architektur\b|\barquitectura\b", 5),
    _s(_D.ARCHITECTURE, 1.5, r"\b(?:system|technical|high[- ]level|low[- ]level|detailed|solution|software) design\b|\bdesign (?:doc(?:ument)?|proposal)\b|\bRFC\b|\bADR\b|\bdecision record\b", 4),
    _s(_D.ARCHITECTURE, 1.5, r"\b(?:sequence|component|deployment|container|context|class|entity[- ]relationship) diagram\b|\bdata flow\b|\bbounded contexts?\b|\bC4 (?:model|diagrams?|context|container|component)\b", 4),
    _s(_D.ARCHITECTURE, 1.3, r"^(?:#* ?)(?:context|decision(?: \d+)?|options considered|options|alternatives|consequences|drawbacks)\b[^\n]{0,60}$|^(?:context|decision|options considered|consequences):", 4, False),
    _s(_D.ARCHITECTURE, 3.0, r"^```\s*(?:mermaid|plantuml|puml|dot|d2)\b", 2, False),
    _s(_D.ARCHITECTURE, 0.7, r"\b(?:micro-?services?|message (?:queue|broker|bus)|event bus|load balancer|api gateway|kubernetes|kafka|rabbitmq|redis|postgres(?:ql)?|cache|replicas?|shards?|scalab\w+|availability zones?|data ?stores?|back-?end|front-?end|monolith|lambda|(?<!-)s3|cdn|components?|latency|komponenten?|schnittstellen?|datenbank(?:en)?|warteschlange|rechenzentr\w+|lastverteiler|composants?|base de donn\u00e9es|componentes?|base de datos)\b", 9, False),
    _s(_D.ARCHITECTURE, 1.2, r"\b(?:trade-?offs?|consequences|alternatives(?: considered)?|rejected alternatives|considered options|proposed (?:solution|design|architecture)|rationale|decision drivers|single point of failure|failover|tech(?:nology)? stack)\b", 4),
    _s(_D.ARCHITECTURE, 1.5, r"^#* ?(?:\d[\d.]*[ \t]+)?(?:(?:detailed |component |high[- ]level |low[- ]level )?design|architecture|ports?|modules?|state machines?|(?:class|sequence|state) diagrams?|algorithms?)[ \t]*$", 4, False),
    _s(_D.ARCHITECTURE, 1.4, r"\bархитектур\w+|\bkiến trúc\b|\bmimari\b|\barquitetura\b|\barchitettur\w|\barchitektur\w+|\bαρχιτεκτονικ\w+|架构|アーキテクチャ|아키텍처", 5),
    # --- APIs ---
    _s(_D.API_SPEC, 2.0, r"\b(?:GET|POST|PUT|PATCH|DELETE)\b[`*| ]+(?:https?://[\w.-]+)?/[\w{}/:.<>-]*", 6, False),
    _s(_D.API_SPEC, 0.8, r"\b(?:endpoints?|request body|response body|query parameters?|path parameters?|status codes?|payload|rate limits?|webhooks?|pagination|content-type|application/json)\b", 8),
    _s(_D.API_SPEC, 1.8, r"\b(?:REST|HTTP|GraphQL|public|web)?\s?API (?:reference|documentation|docs|spec(?:ification)?|guide|v\d)\b", 3),
    _s(_D.API_SPEC, 0.8, r"\bAPI\b", 3),
    _s(_D.API_SPEC, 0.6, r"^[ \t]*(?:HTTP/1\.1\s)?[2345]\d\d\s+(?:OK|Created|Accepted|Bad Request|Not Found|Unauthorized|Forbidden|Conflict|Too Many)", 5, False),
    # --- Data sheets ---
    _s(_D.DATASHEET, 2.0, r"\bdata ?sheet\b|\bdatenblatt\b|\bfiche technique\b|\bhoja de datos\b|\btechnical data\b", 3),
    _s(_D.DATASHEET, 0.7, r"\b\d+(?:[.,]\d+)?\s?(?:[mµuk]?V(?:DC|AC|pp)?|[mµun]?A|mAh|[kMG]?Hz|[kMm]?\u03a9|ohms?|mm|cm|°\s?C|dBm?|[mk]?W|kg|lbs?|nm|[µn]s|bar|psi|rpm|lm|N·?m|IP\d\d)\b", 10, False),
    _s(_D.DATASHEET, 1.5, r"\b(?:operating (?:temperature|voltage)|supply voltage|absolute maximum|pin-?out|pin configuration|electrical characteristics|power consumption|ordering (?:information|code)|part (?:number|no)|dimensions|net weight|enclosure|ingress protection|rated (?:voltage|current|power)|storage temperature|technical specifications?|housing|accuracy)\b", 8),
    # --- Test data ---
    _s(_D.TEST_DATA, 2.2, r"\b(?:test|sample|seed|mock|dummy|synthetic|demo) (?:data|accounts?|users?|cards?|records?|credentials)\b|\btestdaten\b|\bfixtures?\b", 4),
    _s(_D.TEST_DATA, 1.0, r"\b(?:boundary values?|equivalence (?:class|partition)\w*|valid inputs?|invalid inputs?)\b", 3),
    # --- Scripts ---
    _s(_D.AUTOMATION_SCRIPT, 2.0, r"\b(?:automation|automated test) scripts?\b", 2),
    _s(_D.AUTOMATION_SCRIPT, 1.0, r"^[ \t]*(?:\$ |npx |npm run |pytest |mvn |await page\.|page\.|driver\.|click |type |open )", 5, False),
    # --- What is none of these ---
    _s(_D.OTHER, 2.0, r"\b(?:meeting (?:minutes|notes)|minutes of|agenda|attendees|invoice|rechnung|curriculum vitae|r\u00e9sum\u00e9|cover letter|newsletter|press release|terms of (?:service|use)|privacy policy|licen[cs]e agreement|permission is hereby granted|changelog|release notes|contributing|code of conduct|recipe|ingredients)\b", 4),
    _s(_D.OTHER, 1.5, r"\b(?:open|public|font|software) licen[cs]e\b|\bwarrant(?:y|ies)\b|\bwithout limitation\b|\bcopyright (?:notice|holders?)\b", 4),
    _s(_D.OTHER, 1.2, r"^[ \t]*(?:dear |hi |hello |subject:|from:|to:|cc:|regards|best regards|sincerely)", 4, False),
    _s(_D.OTHER, 0.9, r"\b(?:installation|getting started|quick ?start|pip install|npm install|how to install|troubleshooting|faq|onboarding|handbook|tutorial)\b", 4),
    _s(_D.OTHER, 2.0, r"\b(?:users?'?s?|installation|administrator'?s?|operating|setup) (?:guide|manual|instructions)\b|\bhow[- ]to (?:guide|use)\b", 3),
    _s(_D.OTHER, 0.5, r"\blet's\b|\byou(?:'ll|'re| can| will| need| want| should| might| may)\b", 8, False),
)  # fmt: skip

# Words of a file's name that say what somebody thought it was.
NAMES: tuple[tuple[DocType, re.Pattern[str]], ...] = tuple(
    (doc_type, re.compile(pattern))
    for doc_type, pattern in (
        (_D.REQUIREMENTS, r"\brequirements?\b|\b(?:srs|prd|brd|frd|nfr|frs)\b|\bspec(?:ification)?s?\b|anforderung|\bbrief\b|\bfachkonzept\b|\blastenheft|\bpflichtenheft"),
        (_D.USER_STORY, r"\b(?:user )?stor(?:y|ies)\b|\bbacklog\b"),
        (_D.TEST_CASES, r"\bexploratory\b|\btestf.lle?\b|\btest ?(?:cases?|plan|suite|scenarios?|checklist)\b|\bcheck ?list\b|\btcs?\b|\bregression\b|\bsmoke\b"),
        (_D.TEST_DATA, r"\btest ?data\b|testdaten|\bfixtures?\b|\bseeds?\b|\bmock\b|\bsamples?\b|\b(?:users|customers|accounts|products|orders|logins|credentials)\b"),
        (_D.AUTOMATION_SCRIPT, r"\bautomation\b|\be2e\b"),
        (_D.API_SPEC, r"\bapi\b|\bopenapi\b|\bswagger\b|\bendpoints?\b"),
        (_D.ARCHITECTURE, r"\barchitecture\b|\badr\b|\bhld\b|\blld\b|\bdesign\b|\barch\b|\bdecision\b|architektur|\brfc\b|\bsystem\b|\bsdd\b"),
        (_D.REPORT, r"\breport\b|bericht\b|\bpen ?test\b|\bcoverage\b|\bresults?\b|\bpost ?mortem\b|\bsummary\b|\bincident\b|\bretro(?:spective)?\b|\baudit\b|\bfindings\b"),
        (_D.DATASHEET, r"\bdata ?sheet\b|\bdatenblatt\b"),
        (_D.SPREADSHEET, r"\bbudget\b|\bforecast\b|\binventory\b|\bplanning\b|\btimesheet\b|\bexpenses?\b|\bpricing\b|\bheadcount\b"),
        (_D.OTHER, r"\breadme\b"),  # and once more below: whatever it is about, it is a readme
        (_D.OTHER, r"\breadme\b|\bchangelog\b|\blicen[cs]e\b|\bcontributing\b|\bminutes\b|\bnotes\b|\binvoice\b|\b(?:users? ?)?(?:guide|manual|handbook|tutorial|instructions?)\b"),
    )
)  # fmt: skip
