import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  listLosses,
  listStatefulResources,
  listUnrecorded,
  recordFile,
  type StatefulResources,
} from '../../infra/stateful-resources.ts';
import { readStack, type Template } from '../../testing/stack-templates.ts';

const recorded = JSON.parse(readFileSync(recordFile, 'utf8')) as StatefulResources;
const { root } = await readStack('stateful');
const tableId = 'DataTableFDBAD0F2';

/** Returns the template with a changed table. */
const withTable = (change: (table: Template['Resources'][string]) => object): Template => ({
  Resources: {
    ...root.Resources,
    [tableId]: { ...root.Resources[tableId], ...change(root.Resources[tableId] as never) } as never,
  },
});
const listLossesOf = (template: Template) => listLosses(recorded, listStatefulResources(template));

describe('infra/stateful-resources.json', () => {
  it('contains the id, the names and the keys of every resource that holds data, so that no deployment replaces one', () => {
    const current = listStatefulResources(root);
    expect([...listLosses(recorded, current), ...listUnrecorded(recorded, current)]).toEqual([]);
    expect(recorded).toEqual(current);
  });

  it('contains table, master key, queues, vault, API, its URL and its access log, and retains those that cannot be restored', () => {
    const count = (type: string) => Object.values(recorded).filter((resource) => resource.type === type).length;
    expect(count('AWS::SQS::Queue')).toBe(9);
    for (const type of ['ApiGateway::RestApi', 'ApiGateway::Stage', 'ApiGateway::DomainName', 'SNS::Topic'])
      expect(count(`AWS::${type}`)).toBe(1);
    for (const type of ['DynamoDB::Table', 'SecretsManager::Secret', 'Backup::BackupVault', 'ApiGateway::RestApi']) {
      const [resource, ...others] = Object.values(recorded).filter((entry) => entry.type === `AWS::${type}`);
      expect(others).toEqual([]);
      expect(resource?.identity).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    }
    expect(recorded[tableId]?.identity).toMatchObject({ keys: 'pk (HASH, S), sk (RANGE, S)' });
  });

  it.each(['none', 'stateful', 'every'] as const)(
    'needs no entry for nested stacks, which hold no data except the logs of functions (%s)',
    async (id) => {
      for (const template of Object.values((await readStack(id)).nested)) {
        const types = Object.values(listStatefulResources(template)).map(({ type }) => type);
        expect(types.filter((type) => type !== 'AWS::Logs::LogGroup')).toEqual([]);
      }
    },
  );

  it.each(['none', 'canary', 'everyWithoutAdoption'] as const)(
    'has the same ids with other options (%s)',
    async (id) => {
      const current = listStatefulResources((await readStack(id)).root);
      expect(Object.keys(recorded)).toEqual(expect.arrayContaining(Object.keys(current)));
    },
  );
});

describe('listLosses', () => {
  it('names what is lost and what to do if the id of a construct changes', () => {
    const { [tableId]: table, ...others } = root.Resources;
    const renamed = { Resources: { ...others, StorageTable12345678: table as never } };
    expect(listLossesOf(renamed)).toEqual([
      'DataTableFDBAD0F2 (AWS::DynamoDB::Table) is missing from the template: after a deployment, the service would start with an empty table, without its apps, purchases, customers, events and statistics. Restore the id and the path of its construct. If the loss is intended, run npm run stateful -- --accept DataTableFDBAD0F2.',
    ]);
    expect(listUnrecorded(recorded, listStatefulResources(renamed))).toEqual([
      'StorageTable12345678 (AWS::DynamoDB::Table) is not in infra/stateful-resources.json. Run npm run stateful and commit the file.',
    ]);
  });

  it.each([
    [
      'another sort key',
      { KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }] },
      /has the keys pk \(HASH, S\) instead/,
    ],
    ['a physical name', { TableName: 'claimcheck' }, /has the TableName claimcheck instead of \(not set\)/],
    ['a different TTL attribute', { TimeToLiveSpecification: undefined }, /TimeToLiveSpecification \(not set\)/],
  ])('names a table with %s', (_name, properties, sentence) => {
    const changed = withTable(({ Properties }) => ({ Properties: { ...Properties, ...properties } }));
    expect(listLossesOf(changed)).toEqual([expect.stringMatching(sentence)]);
  });

  it('names a table without an index, and accepts an additional one until it is recorded', () => {
    const withIndexes = (change: (indexes: readonly object[]) => readonly object[]) =>
      withTable(({ Properties }) => ({
        Properties: { ...Properties, GlobalSecondaryIndexes: change(Properties.GlobalSecondaryIndexes) },
      }));
    expect(listLossesOf(withIndexes(([, ...others]) => others))).toEqual([
      expect.stringMatching(/has the index \w+ \(not set\) instead of/),
    ]);
    const grown = withIndexes(([first, ...others]) => [first as object, ...others, { ...first, IndexName: 'byStore' }]);
    expect(listLossesOf(grown)).toEqual([]);
    expect(listUnrecorded(recorded, listStatefulResources(grown))).toEqual([
      expect.stringMatching(/^The index byStore of DataTable/),
    ]);
  });

  it('names a table that is no longer retained', () => {
    expect(listLossesOf(withTable(() => ({ DeletionPolicy: 'Delete' })))).toEqual([
      expect.stringMatching(/has the DeletionPolicy Delete instead of RetainExceptOnCreate/),
    ]);
  });
});
