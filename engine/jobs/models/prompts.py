"""Prompt templates of the workspace: what is in use, changes, previews, and what a run keeps of them."""

from __future__ import annotations

from typing import TypedDict, cast

from engine.errors import UserError
from engine.json_types import JSON
from engine.models.builtin.format import DOMAINS
from engine.store.upkeep import Settings

KEY = "prompt templates"


class Template(TypedDict):
    """A prompt template in use, the one that shipped, and whether they differ."""

    text: str
    shipped: str
    changed: bool


class Prompts:
    """The prompt templates of a workspace."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def all(self, domain: str) -> dict[str, Template]:
        """Return, for each template of a domain, its `text`, the `shipped` one, and whether it is `changed`."""
        from engine.models.prompts import templates

        own, changed = templates.shipped(_domain(domain)), self._changed_prompts().get(domain, {})
        return {
            name: {"text": changed.get(name, text), "shipped": text, "changed": name in changed}
            for name, text in own.items()
        }

    def version(self) -> str:
        """Return the digest of all templates in use, as a run's manifest names it."""
        from engine.models.prompts import templates

        return templates.version(self._changed_prompts())

    def preview(self, domain: str, name: str, template: str) -> str:
        """Return what a model would be sent, with made-up text in the fields; nothing is kept.

        Raises:
            UserError: the template may not be used.
        """
        from engine.models.prompts import templates

        return templates.preview(_domain(domain), name, template)

    def set(self, domain: str, name: str, template: str) -> str:
        """Keep a template for new runs, and return the new version.

        Raises:
            UserError: the template may not be used.
        """
        from engine.models.prompts import templates

        text = templates.check(name, template)
        templates.preview(_domain(domain), name, text)
        changed = self._changed_prompts()
        changed.setdefault(domain, {})[name] = text
        return self._keep_prompts(changed, "prompt template changed", f"{domain}/{name}")

    def reset(self, domain: str, name: str | None = None) -> str:
        """Go back to what shipped, for one template or a whole domain, and return the new version."""
        changed = self._changed_prompts()
        if name is None:
            changed.pop(_domain(domain), None)
        else:
            changed.get(_domain(domain), {}).pop(name, None)
        return self._keep_prompts(changed, "prompt template reset", f"{domain}/{name or 'all'}")

    def manifest(self, language: str = "en") -> dict[str, JSON]:
        """Return what a new run keeps: the version of all templates, the changed ones, and the prompts' language.

        language: of the text wanted, as a person declared it; prompts are English where there are none in it.
        """
        from engine.models.prompts import templates
        from engine.models.prompts.domains import prompt_language

        return templates.as_manifest(self._changed_prompts(), prompt_language(language))

    def _changed_prompts(self) -> dict[str, dict[str, str]]:
        from engine.models.prompts import templates

        return templates.holding(cast("templates.Changed", self.settings.get(KEY)))

    def _keep_prompts(self, changed: dict[str, dict[str, str]], action: str, subject: str) -> str:
        from engine.models.prompts import templates

        kept = templates.checked(changed)
        version = templates.version(kept)
        self.settings.change(KEY, kept, action, subject, version=version)
        return version


def _domain(domain: str) -> str:
    if domain not in DOMAINS:
        raise UserError(f"domain {domain!r} does not exist; choose one of {', '.join(DOMAINS)}")
    return domain
