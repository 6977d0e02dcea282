"""The one place that cleans what PostgreSQL refuses or no page can show.

What others send is checked at the door (`check_json`, an error that names the place); what our own handlers return is
cleaned (`clean_text`, `clean_json`), because a bad value must never keep a job from ending.
"""

from jobs.domain.json_input import check_json, depth_of, parse_json
from jobs.domain.json_output import CleanJson, clean_json
from jobs.domain.json_text import MAX_DEPTH, MAX_DIGITS, json_text
from jobs.domain.text import clean_text, cut_text, human_size, safe_str, utf8_size

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "CleanJson",
    "check_json",
    "clean_json",
    "clean_text",
    "cut_text",
    "depth_of",
    "human_size",
    "json_text",
    "parse_json",
    "safe_str",
    "utf8_size",
]
