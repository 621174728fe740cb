import { describe, expect, it } from '@jest/globals';
import { RootConstruct } from 'constructs';
import { parse as parseCsv } from 'csv-parse/sync';
import { deploymentOptionNames, getStackName, readDeploymentOptions } from '../../infra/deployment-options.ts';
import { Catalogue } from '../../lib/apps/catalogue.ts';
import { parse } from '../../lib/foundation/parse.ts';
import { parseImportRow } from '../../lib/import/parse-import-row.ts';
import { listItems, readSection, readSnippet } from '../../testing/documents.ts';
import { everyOption } from '../../testing/stack-options.ts';

const listNames = (cell = ''): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

describe('docs/guides/run-for-production.md', () => {
  it('shows a command with a valid value of every option, which the tests of the stack set too', () => {
    const command = readSnippet('docs/guides/run-for-production.md', 'every-option');
    const options = Object.fromEntries(
      [...command.matchAll(/-c (\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(Object.keys(options).sort()).toEqual([...deploymentOptionNames].sort());
    expect(Object.keys(everyOption).sort()).toEqual([...deploymentOptionNames].sort());
    const { node } = new RootConstruct();
    for (const [name, value] of Object.entries(options)) node.setContext(name, value);
    expect(getStackName(readDeploymentOptions(node))).toBe('Claimcheck-production');
  });
});

describe('docs/operating', () => {
  it('describes each deployment option', () => {
    const items = listItems(readSection('docs/operating/deploy.md', 'Deployment options'));
    // The items about CloudFormation and the stage do not begin with an option.
    const documented = items.flatMap((item) => listNames(/^(`\w+`(?:, `\w+`)*): /.exec(item)?.[1]));
    expect(documented.sort()).toEqual([...deploymentOptionNames].sort());
  });

  it('shows a catalogue that the service accepts', () => {
    const catalogue = JSON.parse(readSnippet('docs/operating/set-up-an-app.md', 'catalogue'));
    expect(Object.keys(parse(Catalogue, catalogue))).toEqual(Object.keys(catalogue));
  });
});

describe('docs/guides/move-from-another-validator.md', () => {
  it('shows rows that the import accepts', () => {
    const rows: Record<string, string>[] = parseCsv(
      readSnippet('docs/guides/move-from-another-validator.md', 'purchases'),
      { columns: true },
    );
    expect(rows.map(({ platform }) => platform)).toEqual(['store_a', 'store_b']);
    for (const row of rows)
      expect(parseImportRow(row)).toMatchObject({ platform: row.platform, usernames: [row.user] });
  });
});
