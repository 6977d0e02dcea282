"""This job's own input: documents, payloads, addresses, and answers of a model that are no JSON."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import BROAD, Rule, Sign

_FATAL, _LOGICAL = FailureType.FATAL, FailureType.LOGICAL

#: Asked before all others: our own word for it. A job's input is called its config, which is no configuration of ours.
JOB_CONFIG = Rule(
    "job-config",
    Sign.PATTERN,
    r"\Aexceptions:[^\n]*\b(?:invalidinput|badconfig)\b|^\W{0,3}(?:\w{1,40}: )?invalid input: config\b",
    _LOGICAL,
    "this job's config cannot be used",
)

RULES: tuple[Rule, ...] = (
    Rule(
        "input-time-limit",
        Sign.CLUES,
        r"\btimeout\b[^\n]{0,60}\b(?:must|should|has to) (?:not )?be (?!increased|raised|longer)|"
        r"\b(?:invalid|negative|unsupported) timeout\b(?! (?:error|while))",
        _LOGICAL,
        "a time limit is named that is no number",
    ),
    Rule(
        "json-unreadable",
        Sign.PHRASE,
        "expecting property name | expecting value | expecting ',' delimiter | expecting ':' delimiter"
        " | unterminated string | unexpected token | unexpected end of json | unexpected end of input"
        " | unexpected non-whitespace | unexpected character | json parse | json.parse | jsondecodeerror"
        " | invalid control character | invalid \\escape | extra data: | not valid json | is not json"
        " | invalid json | malformed json | no json | could not parse json | failed to parse json"
        " | unable to parse json | json at position | bad control character | json syntax | jsonparseexception"
        " | mismatchedinputexception | cannot deserialize | deserialize | could not parse llm output"
        " | outputparser | failed to parse output | output parsing | does not match the expected schema"
        " | does not match schema | schema validation | not match json schema | tool call * arguments"
        " | failed_generation | tool_use_failed | json_validate_failed | failed to call a function"
        " | invalid function arguments | trailing comma | illegal trailing | unparseable | unparsable"
        " | not conform to the schema | no object generated | response did not match schema"
        " | failed to parse structured | invalid character * looking for beginning | eof while parsing",
        _LOGICAL,
        "the payload or the model's answer is no JSON of the right form",
    ),
    Rule(
        "markup-unreadable",
        Sign.PHRASE,
        "indentation | mapping values are not allowed | implicit keys"
        " | found character * that cannot start any token | could not find expected ':' | found duplicate key"
        " | block mapping | flow sequence | not well-formed | mismatched tag | start tag expected"
        " | premature end of data | document is empty | no element found | undefined entity | junk after document"
        " | opening and ending tag mismatch | invalid element name | namespace prefix | closing quote"
        " | quoted field | unescaped | expected * fields | invalid record length | missingsectionheader"
        " | graphql syntax | postman collection | parse error | parsing error | parser error | parseerror"
        " | could not parse | cannot parse | failed to parse | unable to parse | parsing failed | error parsing"
        " | syntax error | syntaxerror | unexpected identifier | invalid or unexpected token | unterminated"
        " | invalid syntax | unexpected eof while parsing",
        _LOGICAL,
        "the document cannot be parsed",
        BROAD,
    ),
    Rule(
        "document-unreadable",
        Sign.PHRASE,
        "could not be loaded | could not load document | cannot load document | failed to load document"
        " | zip bomb | encrypteddocument | conversion failed | no decode delegate | unable to open image"
        " | eof marker | startxref | xref | not a pdf | invalid pdf | pdf header | no /root object | pdf syntax"
        " | pdfsyntax | pdf is encrypted | encrypted pdf | file has not been decrypted | has been encrypted"
        " | document is encrypted | password protected | password-protected | incorrect password | wrong password"
        " | password required | no password given | password is incorrect | password for * incorrect"
        " | encryption handler | damaged | broken document | cannot open broken | not a zip file"
        " | bad magic number | bad crc | invalid zip | end of central directory | corrupt zip | corrupt"
        " | corrupted | truncated | unexpected end of file | unexpected end of data | unexpected end of stream"
        " | unexpected end of archive | premature end of file | premature eof | premature end of jpeg"
        " | not a gzip | incorrect header check | invalid block type | invalid stored block | invalid distance"
        " | compressed data ended | unknown compression | invalid magic | cannot identify image"
        " | unsupported image | image file is truncated | broken data stream | broken png | unrecognized image"
        " | not a valid image | unknown image | decompression bomb | input buffer contains unsupported | vipsjpeg"
        " | input file is missing | input image exceeds | exceeds pixel limit | image dimensions | image exceeds"
        " | could not process image | image too large | image size | invalid image | invalid base64"
        " | illegal base64 | incorrect padding | corrupt jpeg | invalid data found when processing input"
        " | moov atom | could not find codec | no audio | unsupported format | unsupported file"
        " | unsupported document | unsupported media | unsupported content | unsupported mime"
        " | unsupported encoding | can't decode byte | codec can't decode | codec can't encode"
        " | invalid start byte | invalid continuation byte | invalid utf-8 | invalid utf8 | malformed utf-8"
        " | unknown encoding | not valid utf | invalid unicode | illegal character | stringprep"
        " | no such worksheet | worksheet * does not exist | no valid workbook | not a word file"
        " | not a valid docx | package not found at | olefile | not an ole2 | unsupported office | invalid header"
        " | compound document | bof record | expected bof | password is required to open | xls file"
        " | workbook is encrypted | there is no item named | no text could be extracted | no extractable text"
        " | no text found | empty document | document has no pages | file is empty | empty file | zero bytes"
        " | page * is invalid | invalid page | pdfium | invalid object | stream has ended unexpectedly"
        " | malformed | cannot read an empty file",
        _LOGICAL,
        "the document is broken, protected or of an unsupported kind",
        BROAD,
    ),
    Rule(
        "decoder",
        Sign.CLUES,
        r"\b(?:lib)?(?:vips\w*|tiff\w*|magick\w*|png|jpe?g|webp|heif|xml2?)\b[^\n]{0,120}(?:error|warning|corrupt)\b|"
        r"\b(?:mupdf|poppler|ghostscript|pdfminer|exiftool|qpdf)\b[^\n]{0,80}\b(?:error|warning)\b",
        _LOGICAL,
        "what reads documents and pictures refuses this one",
    ),
    Rule(
        "input-too-big",
        Sign.PHRASE,
        "file too large | file is too large | too large | exceeds the maximum | exceeds maximum | exceeds max"
        " | exceeds the limit | exceeds size | maximum size | size limit | maximum allowed size"
        " | maximum number of | exceeds the allowed | over the limit of | body exceeded | maxcontentlength"
        " | maxbodylength | content length of | maximum call stack | maximum recursion | recursion depth"
        " | call stack size | too deeply | too deep | nesting | too many pages | too many redirects"
        " | too many values | too many levels | name too long | enametoolong | filename too long"
        " | invalid string length | cannot create a string longer | err_fr_max | maxredirects"
        " | exceeded 30 redirects | redirect count exceeded | redirect loop | exceeded maximum redirects"
        " | payload size | must be at most | must be less than | should have at most | exceeds the number",
        _LOGICAL,
        "this job's input is too big",
        BROAD,
    ),
    Rule(
        "input-source",
        Sign.PHRASE,
        "could not resolve to | invalid_image_url | error while downloading | failed to download image"
        " | could not download image"
        " | repository not found | couldn't find remote ref | remote branch * not found | not a git repository"
        " | pathspec | chat not found | bot was kicked | bot was blocked | bot can't initiate | user is deactivated"
        " | not enough rights | no rights to send | object_not_found",
        _LOGICAL,
        "what this job names does not exist or refuses us",
    ),
    Rule(
        "document-library",
        Sign.PATTERN,
        r"\Aexceptions:[^\n]*\b(?:pypdf2?|pdfminer|pdfrw|pdfplumber|pikepdf|pymupdf|fitz|docx|openpyxl|xlrd|pptx|"
        r"zipfile|tarfile|lxml|bs4|pil|yaml|csv|jsonschema|pydantic\w*|json|tomllib|tarfile|zlib|gzip)\.[\w.]*",
        _LOGICAL,
        "a library that reads documents refuses this one",
    ),
    Rule(
        "input-address",
        Sign.PHRASE,
        "invalid url | invalid uri | malformed url | malformed uri | url is not valid | not a valid url"
        " | unsupported protocol | unsupported url | no scheme supplied | no schema supplied | no host supplied"
        " | no host specified | no host in request url | unknown url type | url using bad/illegal format"
        " | only absolute urls | is missing an 'http | label empty or too long | idna | nonnumeric port"
        " | port could not be cast | failed to parse url | unsupported scheme | scheme missing"
        " | no connection adapters were found | url scheme",
        _LOGICAL,
        "this job's address is no valid one",
    ),
    Rule(
        "input-code-mistake",
        Sign.PHRASE,
        "undefined method | undefined local variable | undefined index | undefined variable | undefined array key"
        " | call to a member function | call to undefined | object reference not set | nil pointer | null pointer"
        " | cannot be cast to | invalid memory address | cannot pickle | can't pickle | cannot read properties of"
        " | cannot read property | is not a function | is not iterable | object has no attribute"
        " | not subscriptable | unsupported operand | unhashable | list index out of range"
        " | missing 1 required positional | not enough values to unpack | could not convert string"
        " | invalid literal for | not json serializable | converting circular structure | string indices must be"
        " | maximum call stack size | can only concatenate | must be str, not | got multiple values for"
        " | object is not callable | not supported between instances | expected str instance | object of type",
        _LOGICAL,
        "this input leads to a mistake; the same input does so again",
    ),
)

#: Asked after what says that a document holds an invalid token.
OWN_TOKEN = Rule(
    "own-token",
    Sign.CLUES,
    r"\b(?:token|api key|credentials?|access key|auth(?:orization)? header)\b[^\n.]{0,30}\b(?:invalid|expired|revoked|"
    r"wrong|incorrect|rejected|missing|not valid|malformed|not recogni[sz]ed)\b|\b(?:invalid|expired|revoked|wrong|"
    r"incorrect|missing|bad) (?:\w+ ){0,2}(?:token|api key|credentials?|access key)\b",
    _FATAL,
    "our token or key is missing, wrong or expired",
)
