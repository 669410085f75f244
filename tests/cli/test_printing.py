"""What is printed keeps together what belongs together."""

from pengp.cli.printing import facts, paragraph, rendered, table


def test_no_line_begins_with_a_percent_sign() -> None:
    for size in range(60, 82):
        text = "a" * (size // 2) + " " + "b" * (size // 2) + " 30 % and more"
        for told in (
            rendered(facts([("Average", text)])),
            rendered(table(["what", "told"], [["x", text]], left=2)),
            paragraph(text),
        ):
            assert "30 % and" in " ".join(told.split())
            assert "30 %" in told
