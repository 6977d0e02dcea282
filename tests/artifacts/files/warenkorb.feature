# language: de
Funktionalität: Warenkorb
  Szenario: Artikel hinzufügen
    Angenommen der Warenkorb ist leer
    Wenn ich "Gießkanne" hinzufüge
    Dann liegt 1 Artikel im Warenkorb

  Szenario: Artikel entfernen
    Angenommen im Warenkorb liegt "Gießkanne"
    Wenn ich sie entferne
    Dann ist der Warenkorb leer
