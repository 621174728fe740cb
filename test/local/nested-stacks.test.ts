import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { joinStackTemplates, readStackTemplates, type StackTemplate } from '../../local/nested-stacks.ts';

const hash = 'a'.repeat(64);
const buildStack = (Parameters: object): StackTemplate['Resources'][string] => ({
  Type: 'AWS::CloudFormation::Stack',
  Properties: {
    TemplateURL: { 'Fn::Join': ['', ['https://s3.', { Ref: 'AWS::Region' }, `.amazonaws.com/bucket/${hash}.json`]] },
    Parameters,
  },
});

/** Two nested stacks: a function that reads a table, and an alarm of the function. */
const root: StackTemplate = {
  Parameters: { BootstrapVersion: {} },
  Resources: {
    Table: { Type: 'AWS::DynamoDB::Table' },
    Workers: buildStack({ tableName: { Ref: 'Table' } }),
    Monitoring: buildStack({ functionName: { 'Fn::GetAtt': ['Workers', 'Outputs.name'] } }),
  },
  Outputs: { Arn: { Value: { 'Fn::GetAtt': ['Workers', 'Outputs.arn'] } } },
};
const workers: StackTemplate = {
  Parameters: { tableName: { Type: 'String' } },
  Resources: {
    Role: { Type: 'AWS::IAM::Role' },
    Function: {
      Type: 'AWS::Lambda::Function',
      DependsOn: ['Role'],
      Properties: {
        Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
        Environment: { Variables: { TABLE_NAME: { Ref: 'tableName' }, REGION: { Ref: 'AWS::Region' } } },
      },
    },
  },
  Outputs: { name: { Value: { Ref: 'Function' } }, arn: { Value: { 'Fn::GetAtt': ['Function', 'Arn'] } } },
};
const monitoring: StackTemplate = {
  Parameters: { functionName: { Type: 'String' } },
  Resources: {
    Alarm: {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: { Name: { 'Fn::Join': ['-', ['errors', { Ref: 'functionName' }]] } },
    },
  },
};
const nested = new Map([
  ['Workers', workers],
  ['Monitoring', monitoring],
]);

describe('joinStackTemplates', () => {
  const joined = joinStackTemplates({ root, nested });

  it('joins the resources of all stacks, with the logical id of a nested stack as a prefix', () => {
    expect(Object.keys(joined.Resources).sort()).toEqual([
      'MonitoringAlarm',
      'Table',
      'WorkersFunction',
      'WorkersRole',
    ]);
  });

  it('replaces parameters of a nested stack by the references of the parent, and keeps references within the stack', () => {
    expect(joined.Resources.WorkersFunction?.Properties).toEqual({
      Role: { 'Fn::GetAtt': ['WorkersRole', 'Arn'] },
      Environment: { Variables: { TABLE_NAME: { Ref: 'Table' }, REGION: { Ref: 'AWS::Region' } } },
    });
  });

  it('replaces the outputs of a nested stack, also in parameters of a different one and in outputs of the parent', () => {
    expect(joined.Resources.MonitoringAlarm?.Properties).toEqual({
      Name: { 'Fn::Join': ['-', ['errors', { Ref: 'WorkersFunction' }]] },
    });
    expect(joined.Outputs).toEqual({ Arn: { Value: { 'Fn::GetAtt': ['WorkersFunction', 'Arn'] } } });
  });

  it.each([
    [
      'an output that the nested stack does not have',
      { 'Fn::GetAtt': ['Workers', 'Outputs.url'] },
      'Workers has no value',
    ],
    ['an attribute of a nested stack that is no output', { 'Fn::GetAtt': 'Workers.Arn' }, 'Workers has no value'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholder of CloudFormation.
    ['a reference in a substituted text', { 'Fn::Sub': 'arn:${Table}' }, 'substitutes a reference'],
  ])('throws for %s', (_name, Value, message) => {
    expect(() => joinStackTemplates({ root: { ...root, Outputs: { Value: { Value } } }, nested })).toThrow(message);
  });
});

describe('readStackTemplates', () => {
  const assets = { files: { [hash]: { source: { path: 'Workers.nested.template.json', packaging: 'file' } } } };

  function readFolder(files: Readonly<Record<string, unknown>>) {
    const folder = mkdtempSync(join(tmpdir(), 'claimcheck-templates-'));
    try {
      for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(content));
      return readStackTemplates(folder, 'Claimcheck');
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('reads the template of each nested stack from the asset that its URL names', () => {
    const templates = readFolder({
      'Claimcheck.template.json': { ...root, Resources: { Workers: root.Resources.Workers } },
      'Claimcheck.assets.json': assets,
      'Workers.nested.template.json': workers,
    });
    expect([...templates.nested]).toEqual([['Workers', workers]]);
  });

  it('throws for a URL that names no asset', () => {
    const files = { 'Claimcheck.template.json': root, 'Claimcheck.assets.json': { files: {} } };
    expect(() => readFolder(files)).toThrow('nested stack Workers is not an asset of Claimcheck');
  });
});
