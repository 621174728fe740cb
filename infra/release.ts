import * as v from 'valibot';

/** The list of components in the format of CycloneDX 1.5, as `npm sbom` writes it. */
const Components = v.looseObject({
  metadata: v.looseObject({ component: v.looseObject({ name: v.string() }) }),
  components: v.array(
    v.looseObject({
      purl: v.string(),
      properties: v.optional(v.array(v.object({ name: v.string(), value: v.string() }))),
    }),
  ),
});
type Components = v.InferOutput<typeof Components>;

/** Returns the notes of a version. Throws if the changelog has no dated section of it, or entries after it. */
export function findNotes(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const unreleased = sections.find((section) => section.startsWith('[Unreleased]'));
  if (unreleased?.slice(unreleased.indexOf('\n')).trim())
    throw new Error(`The CHANGELOG has entries under Unreleased. Move them under ${version}.`);
  const section = sections.find((text) => text.startsWith(`[${version}] - `));
  const [, notes] = /^\S+ - \d{4}-\d{2}-\d{2}\n(.*)$/s.exec(section ?? '') ?? [];
  if (!notes) throw new Error(`The CHANGELOG has no section "## [${version}] - <date>".`);
  return notes.trim();
}

/** Packages of the console, which is built without source maps. */
export const consolePackages = ['preact', 'uplot', 'minisearch', 'valibot', 'standardwebhooks'];

const development = 'cdx:npm:package:development';

/**
 * Marks the packages that a deployment contains as no development packages, although npm installs some of them for the
 * build only. Throws if one of them is not in the list.
 */
export function markShipped(sbom: unknown, shipped: Iterable<string>): Components {
  const { components, ...head } = v.parse(Components, sbom);
  const purls = [...shipped].map((name) => `pkg:npm/${name.replace('@', '%40')}@`);
  const missing = purls.filter((purl) => !components.some((component) => component.purl.startsWith(purl)));
  if (missing.length > 0) throw new Error(`The list of components lacks ${missing.join(', ')}.`);
  return {
    ...head,
    components: components.map((component) =>
      purls.some((purl) => component.purl.startsWith(purl))
        ? { ...component, properties: (component.properties ?? []).filter(({ name }) => name !== development) }
        : component,
    ),
  };
}

/** Returns the name of the package that a source of a bundle belongs to. Undefined for a file of the project. */
export const findPackage = (source: string): string | undefined =>
  /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
