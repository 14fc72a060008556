"""The external report: the data card, the policy's answer and the files as one page without scripts or outside parts.

Privacy posture: made of what the bundle holds anyway; no measured value. Every word is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from engine.json_types import as_list
from engine.release.card.card import MEANT, DataCard, model_in_words, second_line, setting_words

_STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;"
    "background:#fff}h1{font-size:1.7rem;line-height:1.25}h2{font-size:1.2rem;margin-top:2rem;border-bottom:1px solid "
    "#d0d7de;padding-bottom:.2rem}table{border-collapse:collapse;width:100%;font-size:.92rem}th,td{text-align:left;"
    "vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #e4e8ec}code{font-size:.8rem;"
    "overflow-wrap:anywhere}.claim{border-left:4px solid #4a6fa5;padding:.1rem 1rem;background:#f4f7fb}"
)
_HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
)


def report(card: DataCard, release_id: str, files: Mapping[str, tuple[str, str]]) -> str:
    """Return the report as one HTML page.

    Args:
        files: name to what it is and its SHA-256.
    """
    content = card.content
    method, guarantee, policy = content["method"], content["guarantee"], content["policy"]
    facts = {
        "Release": release_id,
        "Released": content["created"],
        "Original": content["source"],
        "Purpose": content["purpose"],
        "Recipient": content["recipient"],
        "Licence": content["licence"],
        "Contact": content["contact"],
        "To be reviewed": content["review"],
        **second_line(content),
    }
    listed = "".join(
        f"<tr><td>{escape(name)}<br>{escape(what)}</td><td><code>{digest}</code></td></tr>"
        for name, (what, digest) in sorted(files.items())
    )
    parts = [
        _HEAD,
        f"<title>{escape(content['title'])}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(content['title'])}</h1>",
        _p(f"These records were made by a program. {method['origin']} {content['comparison']}"),
        _table(facts),
        "<h2>What is guaranteed</h2><div class=claim>",
        _p(f"{guarantee['in_words']}. {guarantee['sentence']}"),
        _p(card.formal),
        _p(str(guarantee.get("before_selection", ""))),
        "</div>",
        _list("It assumes:", as_list(guarantee.get("assumptions"))),
        _list("It does not hold where one of these is true:", as_list(guarantee.get("voided_by"))),
        "<h2>How they were made</h2>",
        _p(f"{method['title']}. {method['summary']}"),
        _p(f"Source of the method: {method['citation']}" if method["citation"] else ""),
        _p(f"Language model: {model_in_words(str(content['model']))}."),
        _table({line["setting"]: setting_words(line["value"]) for line in content["settings"]}),
        "<h2>What they are for</h2>",
        _list(MEANT, content["intended"]),
        _list("Not to be used:", content["not_intended"]),
        f"<h2>What was checked before release</h2>{_p('Policy ' + policy['title'] + '. ' + policy['sentence'])}",
        _list("Each of these was met. Measured values are not given.", policy["checked"]),
        _list("These rules of the policy were not met and were waived by a person:", policy["waived"]),
        "<h2>Limits</h2>",
        _list("", content["limits"]),
        f"<h2>Files</h2><table><tr><th>File</th><th>SHA-256</th></tr>{listed}</table>",
        _p(content["formulas"]),
        _p(f"Not in this bundle: {content['left_out']}"),
        _p("Check the files with: python verify.py"),
        "</body></html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _p(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""


def _table(rows: Mapping[str, str]) -> str:
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(said)}</td></tr>" for name, said in rows.items())
    return f"<table>{lines}</table>" if lines else ""


def _list(title: str, items: Iterable[object]) -> str:
    lines = "".join(f"<li>{escape(str(item))}</li>" for item in items)
    return f"{_p(title)}<ul>{lines}</ul>" if lines else ""
