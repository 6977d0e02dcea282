"""Labelled files that were written without a look at the rules: in them the rules were first right for 33 of 40, then,
after what those taught, for 29 of another 33."""

from tests.artifacts.making import docx, pdf, xlsx

FURTHER: dict[str, tuple[str, bytes]] = {}


def add(name: str, label: str, content: str | bytes) -> None:
    FURTHER[name] = (label, content if isinstance(content, bytes) else content.encode())


add(
    "Kundenkonto.docx",
    "REQUIREMENTS",
    docx(
        "# Fachkonzept Kundenkonto\nDas Kundenkonto bündelt Bestellungen und Rechnungen.\n# Anforderungen\nA1 Das System muss dem Kunden seine letzten Bestellungen zeigen.\nA2 Der Kunde soll eine Rechnung als PDF laden können.\nA3 Das System muss nach 15 Minuten ohne Eingabe abmelden."
    ),
)
add(
    "feature-brief-notifications.md",
    "REQUIREMENTS",
    """# Notifications feature brief

## Problem
People miss changes to their bookings because e-mail is read too late.

## Proposal
We want push notifications for changes to bookings.

## What it must do
- Users must be able to turn notifications on and off per booking.
- A notification must arrive within a minute of the change.
- Notifications must not show the names of guests on the lock screen.

## Not included
Marketing messages.

## Open questions
- Do we need quiet hours?
""",
)
add(
    "reqs.xlsx",
    "REQUIREMENTS",
    xlsx(
        (
            "Reqs",
            [
                ["Req ID", "Requirement", "Priority", "Source"],
                ["R-1", "The terminal shall accept contactless cards", "Must", "Bank"],
                ["R-2", "The terminal shall print a receipt on demand", "Should", "Shop"],
                ["R-3", "The terminal shall work offline for one hour", "Must", "Shop"],
            ],
        )
    ),
)
add(
    "historia.md",
    "USER_STORY",
    """# Historias del portal

Como paciente, quiero cambiar mi cita por internet para no tener que llamar.

Como recepcionista, quiero ver los huecos libres del día para llenar cancelaciones.
""",
)
add(
    "stories.docx",
    "USER_STORY",
    docx(
        "# Sprint 14 stories\nAs a tenant, I want to report a broken heater with a photo, so that the janitor brings the right part.\nAcceptance criteria\nA photo can be added.\nThe janitor gets a message.\nAs a janitor, I want to see reports sorted by floor, so that I walk less."
    ),
)
add(
    "story-export.json",
    "USER_STORY",
    """[{"key":"W-1","type":"Story","summary":"As a driver I want to scan a code so that I need no key","points":3},{"key":"W-2","type":"Story","summary":"As a driver I want to report damage so that I am not blamed","points":5}]""",
)
add(
    "TestRail_export.csv",
    "TEST_CASES",
    """ID,Title,Section,Type,Preconditions,Steps (Step),Steps (Expected Result)
C101,Add a bookmark,Reader,Functional,A book is open,Tap the ribbon,The ribbon is red
C102,Remove a bookmark,Reader,Functional,A page with a bookmark,Tap the ribbon,The ribbon is grey
""",
)
add(
    "test plan payments.docx",
    "TEST_CASES",
    docx(
        "# Test plan payments\nScope: card and invoice.\n# Test cases\nCase | Steps | Expected\nCard accepted | Pay with 4242 | Order is confirmed\nCard refused | Pay with 4000 | Message is shown\nInvoice | Choose invoice | Mail is sent\n# Entry criteria\nThe build is deployed on the test system."
    ),
)
add(
    "cart.feature.txt",
    "TEST_CASES",
    """Feature: Cart
  Scenario: Add
    Given an empty cart
    When I add a spade
    Then the cart has 1 line
""",
)
add(
    "exploratory.md",
    "TEST_CASES",
    """# Login scenarios to check by hand

1. Open the login page, type a wrong password three times.
   Expected: the account is locked for ten minutes.
2. Use the link "Forgot password".
   Expected: a mail arrives within a minute.
3. Log in on two devices.
   Expected: both sessions stay.
""",
)
add(
    "cards.json",
    "TEST_DATA",
    """{"valid":[{"number":"4242424242424242","expiry":"12/30","cvv":"123"},{"number":"5555555555554444","expiry":"01/29","cvv":"999"}],"invalid":[{"number":"4000000000000002","expiry":"12/30","cvv":"123"},{"number":"123","expiry":"","cvv":""}]}""",
)
add(
    "customers_sample.tsv",
    "TEST_DATA",
    "customer_id\tname\tcity\tphone\n1\tAda\tPorto\t+351 1\n2\tBo\tGdansk\t+48 2\n3\tCy\tLyon\t+33 3\n",
)
add(
    "fixtures.yml",
    "TEST_DATA",
    """users:
  - name: ada
    email: ada@mail.example
    role: admin
  - name: bo
    email: bo@mail.example
    role: viewer
orders:
  - id: 1
    user: ada
    total: 12.5
  - id: 2
    user: bo
    total: 7
""",
)
add(
    "Testdaten Anmeldung.xlsx",
    "TEST_DATA",
    xlsx(
        (
            "Daten",
            [
                ["Benutzername", "Passwort", "Erwartete Meldung"],
                ["anna", "Richtig1!", "Willkommen"],
                ["anna", "falsch", "Falsches Passwort"],
                ["", "x", "Name fehlt"],
            ],
        )
    ),
)
add(
    "LoginTests.cs",
    "SELENIUM_SCRIPT",
    """using NUnit.Framework;
using OpenQA.Selenium;
using OpenQA.Selenium.Chrome;

namespace Depot.Tests
{
    public class LoginTests
    {
        [Test]
        public void SignsIn()
        {
            using var driver = new ChromeDriver();
            driver.Navigate().GoToUrl("https://depot.example");
            driver.FindElement(By.Id("user")).SendKeys("ada");
        }
    }
}
""",
)
add(
    "checkout_spec.rb",
    "SELENIUM_SCRIPT",
    """require 'selenium-webdriver'

describe 'checkout' do
  it 'confirms' do
    driver = Selenium::WebDriver.for :chrome
    driver.get 'https://shop.example/basket'
    driver.find_element(id: 'pay').click
    driver.quit
  end
end
""",
)
add(
    "e2e_test.py",
    "AUTOMATION_SCRIPT",
    """import re
from playwright.sync_api import Page, expect


def test_title(page: Page):
    page.goto("https://depot.example/")
    expect(page).to_have_title(re.compile("Depot"))
""",
)
add(
    "load.js",
    "AUTOMATION_SCRIPT",
    """import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = { vus: 20, duration: '1m' };

export default function () {
  const res = http.get('https://depot.example/parcels');
  check(res, { 'is 200': (r) => r.status === 200 });
  sleep(1);
}
""",
)
add(
    "ci.yml",
    "AUTOMATION_SCRIPT",
    """name: tests
on: [push]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: npm ci && npm test
""",
)
add(
    "events.asyncapi.yaml",
    "API_SPEC",
    """asyncapi: 3.0.0
info:
  title: Parcel events
  version: 1.0.0
channels:
  parcelMoved:
    address: parcel.moved
""",
)
add(
    "API guide.pdf",
    "API_SPEC",
    pdf(
        "Depot API guide\nAuthentication: send the header Authorization: Bearer <token>.\nGET /parcels lists parcels. Query parameters: page, size.\nPOST /parcels adds one. Request body: JSON.\nDELETE /parcels/{id} removes one.\nStatus codes: 200, 201, 404."
    ),
)
add(
    "service.proto",
    "API_SPEC",
    """syntax = "proto3";
package depot;
service Parcels { rpc Get (GetRequest) returns (Parcel); }
message GetRequest { string id = 1; }
message Parcel { string id = 1; string state = 2; }
""",
)
add(
    "design-search.md",
    "ARCHITECTURE",
    """# Design: search service

## Context
Search queries hit the orders database today and slow it down.

## Proposed solution
A separate service keeps an index. Changes reach it over the outbox; it rebuilds the index at night. Two replicas, each with its own copy.

## Alternatives considered
- full-text search in PostgreSQL: simple, but shares its load
- a hosted search: data would leave the country

## Risks
The index may lag behind by a few seconds.
""",
)
add(
    "docker-compose.yml",
    "ARCHITECTURE",
    """services:
  web:
    image: depot/web
    ports: ["80:8000"]
  db:
    image: postgres:17
  cache:
    image: redis:8
""",
)
add(
    "Netzplan.docx",
    "ARCHITECTURE",
    docx(
        "# Systemarchitektur Depot\nDas System besteht aus drei Komponenten: Web, Worker und Datenbank.\n# Komponenten\nDer Worker liest Aufträge aus der Warteschlange.\nDie Datenbank läuft in zwei Rechenzentren mit Failover.\n# Schnittstellen\nWeb spricht über REST mit dem Abrechnungssystem."
    ),
)
add(
    "pentest.md",
    "REPORT",
    """# Penetration test, depot web application

Tested from 3 to 7 June by two people.

## Summary of findings

| # | Finding | Severity |
|---|---|---|
| 1 | Session does not end at logout | High |
| 2 | Version shown in header | Low |

## Recommendations

End sessions on the server. Hide the version.
""",
)
add(
    "coverage-summary.json",
    "REPORT",
    """{"total":{"lines":{"total":1200,"covered":1100,"skipped":0,"pct":91.6},"statements":{"total":1300,"covered":1190,"skipped":0,"pct":91.5},"functions":{"total":210,"covered":190,"skipped":0,"pct":90.4},"branches":{"total":400,"covered":310,"skipped":0,"pct":77.5}}}""",
)
add(
    "Wochenbericht KW 23.txt",
    "REPORT",
    """Wochenbericht KW 23

Erledigt
- Suche ausgeliefert, 3 Fehler behoben
- 212 Tests bestanden, 4 fehlgeschlagen

Probleme
- Testsystem am Dienstag zwei Stunden nicht erreichbar

Nächste Woche
- Lasttest
""",
)
add(
    "inventory.csv",
    "SPREADSHEET",
    """Part,Supplier,Quantity on hand,Reorder level,Unit cost,Total
Spade,Ironworks,40,10,12.50,500.00
Rake,Ironworks,12,10,9.00,108.00
Hose,Waterhouse,5,8,30.00,150.00
""",
)
add(
    "roadmap.xlsx",
    "SPREADSHEET",
    xlsx(
        (
            "Plan",
            [
                ["Milestone", "Owner", "Start", "End", "Status"],
                ["Search", "Ines", "2026-01-05", "2026-02-20", "done"],
                ["Payments", "Tom", "2026-02-23", "2026-04-10", "running"],
            ],
        )
    ),
)
add(
    "motor-driver.docx",
    "DATASHEET",
    docx(
        "# MD-200 stepper motor driver\nOverview: drives one bipolar stepper motor.\nParameter | Min | Typ | Max | Unit\nSupply voltage | 8 | 24 | 45 | V\nOutput current | - | 1.5 | 2.0 | A\nStep frequency | - | - | 200 | kHz\nMechanical: 20 mm x 15 mm, weight 4 g"
    ),
)
add(
    "hoja-tecnica.txt",
    "DATASHEET",
    """Cámara IP CX-4 — Hoja de datos

Sensor: 4 MP, 2560 x 1440
Alimentación: 12 V DC, 6 W o PoE
Temperatura de funcionamiento: -30 °C a 60 °C
Protección: IP67
Peso: 0,6 kg
Dimensiones: 180 mm x 80 mm
""",
)
add(
    ".env.example",
    "ENV_CONFIG",
    """# copy to .env
PORT=8000
SECRET_KEY=
DATABASE_URL=postgres://localhost/depot
""",
)
add(
    "fze_cases.csv",
    "FUNCTIONIZE_TC",
    """Functionize Test ID,Test Case,Step,Action,Element,Value
903001,Sign in,1,PAGE_INIT,,https://depot.example
903001,Sign in,2,INPUT,#user,{{fze.local.user}}
903001,Sign in,3,CLICK,button,
""",
)
add("requirements.txt", "OTHER", "django>=5.0\npsycopg[binary]==3.2.1\nhttpx\nuvicorn~=0.30\n")
add(
    "package.json",
    "OTHER",
    """{"name":"depot-web","version":"1.2.0","scripts":{"build":"vite build","test":"vitest"},"dependencies":{"vue":"^3.4.0"}}""",
)
add(
    "rechnung.pdf",
    "OTHER",
    pdf(
        "Rechnung 2026-118\nDruckerei Meyer GmbH\nMenge Bezeichnung Preis\n500 Etiketten 45,00 EUR\nGesamt 53,55 EUR\nZahlbar binnen 14 Tagen"
    ),
)
add(
    "money.py",
    "OTHER",
    """from decimal import Decimal


def rounded(amount: Decimal) -> Decimal:
    \"\"\"To cents, half up.\"\"\"
    return amount.quantize(Decimal("0.01"))
""",
)
add(
    "welcome mail.txt",
    "OTHER",
    """Subject: Welcome to the team

Dear Ines,

we are glad that you start on Monday. Please bring your passport for the contract. Lunch is at noon.

Best regards
Tom
""",
)
add(
    "CHANGELOG.md",
    "OTHER",
    """# Changelog

## 2.1.0
- Added: search by name
- Fixed: crash when the basket was empty
- Changed: the report page loads faster
""",
)
add(
    "PRD - offline mode.docx",
    "REQUIREMENTS",
    docx(
        "# Offline mode\nOwner: Ines. Reviewers: mobile team.\n# Background\nCouriers lose the network in basements.\n# Requirements\nThe app keeps working without a network for two hours.\nScans are stored and sent later.\nThe courier sees which scans are not sent yet.\n# Acceptance criteria\nNo scan is lost when the battery dies."
    ),
)
add(
    "nfr.csv",
    "REQUIREMENTS",
    "Id,Category,Requirement,Verification\nN1,Speed,Pages load within two seconds,Measure\nN2,Privacy,Names are deleted after 90 days,Review\n",
)
add(
    "exigences.md",
    "REQUIREMENTS",
    "# Exigences du portail\n\n1. Le portail doit permettre la connexion par carte.\n2. Le système doit conserver les journaux pendant un an.\n3. L'utilisateur doit pouvoir supprimer son compte.\n",
)
add(
    "us-112.txt",
    "USER_STORY",
    "US-112 Dark theme\n\nAs someone who works at night, I'd like the screens to be dark so that my eyes do not hurt.\n\nAcceptance:\n* follows the system\n* can be switched\n",
)
add(
    "als-nutzer.md",
    "USER_STORY",
    "# Geschichten\n\nAls Kundin möchte ich meine Rechnung herunterladen, um sie abzulegen.\n\nAls Buchhalter möchte ich alle offenen Rechnungen sehen, damit ich mahnen kann.\n",
)
add(
    "manual_tests.xlsx",
    "TEST_CASES",
    xlsx(
        (
            "Login",
            [
                ["No", "Scenario", "Step", "Expected", "Result"],
                [1, "Wrong password", "Type wrong password", "Error is shown", "OK"],
                [2, "Right password", "Type it", "Dashboard", "OK"],
            ],
        )
    ),
)
add(
    "qa.json",
    "TEST_CASES",
    """{"suite":"login","cases":[{"id":1,"title":"wrong password","steps":["open","type wrong"],"expected":"error is shown"},{"id":2,"title":"right password","steps":["open","type"],"expected":"dashboard"}]}""",
)
add(
    "uat.docx",
    "TEST_CASES",
    docx(
        "# User acceptance test: returns\nTest case 1: Return within 14 days\nSteps: open the order, choose Return, print the label.\nExpected result: the label has the order's number.\nTest case 2: Return after 30 days\nSteps: open the order.\nExpected result: Return is not offered."
    ),
)
add(
    "addresses.json",
    "TEST_DATA",
    """{"addresses":[{"street":"Hafenweg 1","city":"Kiel","zip":"24103"},{"street":"Rua Nova 2","city":"Porto","zip":"4000"}]}""",
)
add(
    "products.xlsx",
    "TEST_DATA",
    xlsx(("products", [["sku", "name", "price", "currency"], ["A1", "Spade", 12.5, "EUR"], ["A2", "Rake", 9, "EUR"]])),
)
add("boundary.csv", "TEST_DATA", "input,valid,reason\n-1,no,below minimum\n0,yes,\n99,yes,\n100,no,above maximum\n")
add(
    "grid_test.js",
    "SELENIUM_SCRIPT",
    "const { Builder, By } = require('selenium-webdriver');\n(async () => {\n  const driver = await new Builder().forBrowser('chrome').build();\n  await driver.get('https://x.example');\n})();\n",
)
add("conftest.py", "AUTOMATION_SCRIPT", "import pytest\n\n\n@pytest.fixture\ndef depot():\n    return object()\n")
add("backup.ps1", "AUTOMATION_SCRIPT", "param($Target)\nGet-ChildItem C:\\data | Copy-Item -Destination $Target\n")
add(
    "billing.wsdl",
    "API_SPEC",
    '<?xml version="1.0"?><definitions xmlns="http://schemas.xmlsoap.org/wsdl/" name="Billing"><message name="a"/></definitions>',
)
add(
    "endpoints.xlsx",
    "API_SPEC",
    xlsx(
        (
            "API",
            [
                ["Method", "Endpoint", "Request", "Response", "Status codes"],
                ["GET", "/parcels", "-", "list", "200"],
                ["POST", "/parcels", "parcel", "parcel", "201, 400"],
            ],
        )
    ),
)
add(
    "rest.md",
    "API_SPEC",
    '# Endpoints\n\n### GET /stations\nReturns all stations.\n\n### POST /stations\nBody:\n```json\n{"name": "x"}\n```\nReturns 201 Created, or 400 Bad Request.\n',
)
add(
    "hld.pdf",
    "ARCHITECTURE",
    pdf(
        "High-level design: label service",
        "The service has three components: an API, a queue and a renderer. The API writes jobs to PostgreSQL; the renderer takes them from the queue and stores PDFs in S3.",
        "Deployment: Kubernetes, two replicas behind a load balancer.",
    ),
)
add(
    "decision-12.txt",
    "ARCHITECTURE",
    "Decision 12: one database per tenant?\n\nContext: tenants ask for separate backups.\nOptions considered: a schema per tenant, a database per tenant, row-level security.\nDecision: row-level security.\nConsequences: one migration for all; backups stay common.\n",
)
add(
    "schema.sql",
    "ARCHITECTURE",
    "CREATE TABLE parcels (id bigint PRIMARY KEY, state text);\nCREATE TABLE couriers (id bigint PRIMARY KEY, name text);\nCREATE INDEX parcels_state ON parcels (state);\n",
)
add(
    "axe.json",
    "REPORT",
    """{"testEngine":{"name":"axe-core"},"violations":[{"id":"color-contrast","impact":"serious","nodes":[]}],"passes":[],"incomplete":[]}""",
)
add(
    "Q2 review.docx",
    "REPORT",
    docx(
        "# Quarterly report Q2\nRevenue grew by 4 %. Three customers left.\n# Results\nParcels: 1.2 million. Complaints: 312.\n# Conclusion\nHire two people for support."
    ),
)
add(
    "retro.md",
    "REPORT",
    "# Sprint 14 retrospective\n\n## What went well\n- search shipped\n\n## What went wrong\n- test system was down\n\n## Action items\n- Tom orders a second server\n",
)
add(
    "gehaltsplan.xlsx",
    "SPREADSHEET",
    xlsx(("Plan", [["Abteilung", "Januar", "Februar", "März"], ["Lager", 1200, 1300, 1250], ["Büro", 900, 900, 900]])),
)
add("hours.csv", "SPREADSHEET", "Employee,Week 1,Week 2,Week 3,Total\nInes,40,38,40,118\nTom,32,32,30,94\n")
add(
    "led.md",
    "DATASHEET",
    "# LED panel LP-60\n\n| Parameter | Value |\n|---|---|\n| Power | 36 W |\n| Luminous flux | 3600 lm |\n| Supply voltage | 230 V AC |\n| Dimensions | 600 mm x 600 mm |\n",
)
add("config.env", "ENV_CONFIG", "PORT=1\n")
add(
    "fze.json",
    "FUNCTIONIZE_TC",
    """{"orchestrationId":"0","testId":"77","TDMdataSetId":"","step":{"action":{"id":"1668018653699_DVHVBC3OB0","type":"UPLOAD"}},"previousSteps":[]}""",
)
add(
    "LICENSE",
    "OTHER",
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this software, to deal in the software without restriction.\n",
)
add("tsconfig.json", "OTHER", """{"compilerOptions":{"target":"es2022","strict":true},"include":["src"]}""")
add(
    "recipe.txt",
    "OTHER",
    "Pancakes\n\n250 g flour, 500 ml milk, 3 eggs, a little salt.\nMix, wait for half an hour, fry in butter.\n",
)
add(
    "holiday.docx",
    "OTHER",
    docx("# Closing days\nThe office is closed from 24 December to 2 January. Parcels are taken in by the neighbours."),
)
add("style.css", "OTHER", "body { margin: 0; color: #222; }\n")
