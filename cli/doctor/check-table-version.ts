import type { Service } from '../../lib/foundation/service.ts';
import { minTableVersion, tableVersion } from '../../lib/foundation/table-version.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';
import { findTableVersion } from '../../lib/migration/find-table-version.ts';

/** Finds stored data of another version than this release writes. */
export async function checkTableVersion(service: Service): Promise<readonly Finding[]> {
  const { version } = await findTableVersion(service);
  if (version === tableVersion) return [];
  if (version >= minTableVersion && version < tableVersion)
    return [
      createFinding('table-version-old', {
        problem: `The table has version ${version}, and this release writes version ${tableVersion}. A later release will not read it.`,
        cure: 'Run `table migrate` after all functions have this release.',
      }),
    ];
  const [problem, cure] =
    version > tableVersion
      ? ['the service does not write to it', 'Deploy or check out the release that wrote it.']
      : [
          'lists are empty and statistics are wrong',
          'Deploy the release that wrote it, export the purchases, and import them into a new table.',
        ];
  return [
    createFinding('table-version-unsupported', {
      problem: `The table has version ${version}, and this release reads versions ${minTableVersion} to ${tableVersion}: ${problem}.`,
      cure: `${cure} See Versions of the table in docs/operating/release.md.`,
    }),
  ];
}
