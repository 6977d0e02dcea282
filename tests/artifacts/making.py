"""Office files and PDFs, made as small as they can be."""

import io
import zipfile
from collections.abc import Sequence
from html import escape
from typing import Any

from openpyxl import Workbook

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def xlsx(*sheets: tuple[str, Sequence[Sequence[Any]]]) -> bytes:
    book = Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def zipped(parts: dict[str, bytes | str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def docx(text: str) -> bytes:
    """Lines; one that begins with # is a heading; lines with | are a table."""
    parts, rows = [], []
    for line in [*text.strip().split("\n"), ""]:
        if "|" in line:
            cells = "".join(
                f"<w:tc><w:p><w:r><w:t>{escape(one.strip())}</w:t></w:r></w:p></w:tc>" for one in line.split("|")
            )
            rows.append(f"<w:tr>{cells}</w:tr>")
            continue
        if rows:
            parts.append(f"<w:tbl>{''.join(rows)}</w:tbl>")
            rows = []
        style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if line.startswith("#") else ""
        parts.append(f"<w:p>{style}<w:r><w:t>{escape(line.lstrip('# '))}</w:t></w:r></w:p>")
    body = f'<?xml version="1.0"?><w:document {W}><w:body>{"".join(parts)}</w:body></w:document>'
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": body})


def pdf(*pages: str) -> bytes:
    """One page a text; its lines stand below each other."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for text in pages:
        lines = [
            line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in text.strip().split("\n")
        ]
        drawn = "BT /F1 11 Tf 50 780 Td 14 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
        stream = drawn.encode("cp1252", "replace")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>"
            % len(objects)
        )
        kids.append(len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(b"%d 0 R" % kid for kid in kids), len(kids))
    out, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1, table, len(objects) + 1, len(out),
    )  # fmt: skip


MADE = {
    "budget-2026.xlsx": lambda: xlsx(
        ("2026", [["Cost centre", "Jan", "Feb", "Mar", "Total"], ["Travel", 1200, 900, 400, "=SUM(B2:D2)"], ["Licences", 300, 300, 300, "=SUM(B3:D3)"]]),
    ),
    "cases.xlsx": lambda: xlsx(
        ("Search", [["Depot app, release 4"], [], ["TC ID", "Title", "Steps", "Expected result", "Status"],
                    ["TC-1", "Find a parcel", "Type its number", "The parcel is shown", "Pass"],
                    ["TC-2", "Unknown number", "Type 000", "A message says that there is none", "Fail"]]),
    ),
    "brief.docx": lambda: docx(
        "# Requirements: visitor badges\nReception prints a badge for each visitor.\n# Functional requirements\n"
        "R1 The system shall print a badge within ten seconds.\nR2 The host must be told by message.\n"
        "R3 The system shall delete visitors' data after 30 days.\n# Constraints\nOnly printers of the building are used."
    ),
    "pump.pdf": lambda: pdf(
        "WP-12 Submersible pump\nTechnical data\nRated voltage 12 V DC\nRated current 2.5 A\nPower consumption 30 W\nMax. flow 900 l/h\n"
        "Operating temperature 0 °C to 50 °C\nDimensions 60 x 60 x 85 mm\nNet weight 0.4 kg\nEnclosure IP68",
    ),
    "load-test.pdf": lambda: pdf(
        "Load test report\nExecutive summary\nThe shop held 800 orders a minute. Pass rate: 99.2 %.",
        "Findings\nThe basket slowed down above 900 orders a minute.\nRecommendations\nAdd a second replica of the basket.\nConclusion\nReady for the sale.",
    ),
}  # fmt: skip
