import { describe, expect, it } from '@jest/globals';
import { readFindings, readStack, type Template } from '../../testing/stack-templates.ts';

const stackIds = [
  ['no option', 'none'],
  ['every option', 'every'],
] as const;
const findings = await readFindings();

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Lists the statements with a wildcard in an action or a resource of all identity policies, by logical id. */
function listWildcardStatements({ Resources }: Template): [string, Statement][] {
  return Object.entries(Resources).flatMap(([id, { Type, Properties = {} }]) => {
    if (!Type.startsWith('AWS::IAM::')) return [];
    const { PolicyDocument, Policies = [] } = Properties as {
      PolicyDocument?: { Statement: Statement[] };
      Policies?: { PolicyDocument: { Statement: Statement[] } }[];
    };
    const documents = [...(PolicyDocument ? [PolicyDocument] : []), ...Policies.map((policy) => policy.PolicyDocument)];
    return documents
      .flatMap(({ Statement }) => Statement)
      .filter(({ Action, Resource }) => JSON.stringify([Action, Resource]).includes('*'))
      .map((statement): [string, Statement] => [id, statement]);
  });
}

describe('acknowledgements of cdk-nag findings', () => {
  it.each(stackIds)("pass cdk-nag's AWS Solutions rules with %s", (_name, id) => {
    expect(findings[id].error).toBeUndefined();
  });

  it.each(stackIds)('apply to single resources and equal the findings of the stack with %s', (_name, id) => {
    expect(findings[id].findings.length).toBeGreaterThan(5);
    expect(findings[id].acknowledged).toEqual(findings[id].findings);
    expect(findings[id].acknowledgedGroups).toEqual([]);
  });

  it.each(stackIds)('name each wildcard of the IAM policies with %s', async (_name, id) => {
    const all = listWildcardStatements((await readStack(id)).joined);
    // The operator and a worker access the files below a location of exports.
    const isExport = ([, { Resource }]: [string, Statement]) => JSON.stringify(Resource).includes(':s3:::');
    expect(all.filter(isExport).map(([, { Action }]) => Action)).toEqual(
      id === 'every' ? Array.from({ length: 2 }, () => ['s3:GetObject', 's3:PutObject']) : [],
    );
    const statements = all.filter((entry) => !isExport(entry));
    const isStreamWorker = (role: string) => /^Workers(fanoutwebhooks|aggregatestatistics)/.test(role);
    expect(statements.filter(([role]) => isStreamWorker(role))).toHaveLength(2);
    const isOperator = (role: string) => /^OperatorPolicy[0-9A-F]{8}$/.test(role);
    expect(statements.filter(([role]) => isOperator(role)).map(([, statement]) => statement)).toEqual([
      { Effect: 'Allow', Action: ['lambda:GetAccountSettings', 'lambda:ListEventSourceMappings'], Resource: '*' },
    ]);
    const actions = id === 'every' ? ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'] : [];
    for (const [role, { Effect, Action, Resource }] of statements.filter(([name]) => !isOperator(name)))
      expect([role, Effect, [Action].flat(), Resource]).toEqual([
        expect.stringMatching(/^(Console|[A-Z][a-z]+Endpoints|Workers)\w+Role[0-9A-F]{8}$/),
        'Allow',
        isStreamWorker(role) ? ['dynamodb:ListStreams', ...actions] : actions,
        '*',
      ]);
  });

  it('fail the synthesis if a policy allows another action on all resources', () => {
    expect(findings.changed['further action on all resources'].error).toMatch(/get-customer.+allows dynamodb:Scan/s);
  });

  it.each([
    ['wildcard in a resource', /get-customer.+IAM5\[Resource::.+\*/s],
    ['wildcard in an action', /get-customer.+IAM5\[Action::.+\*/s],
    ['resource without an acknowledgement', /Extra.+IAM5/s],
  ] as const)('fail the synthesis because of a new %s', (change, finding) => {
    const { error, findings: found, acknowledged } = findings.changed[change];
    // The error names a file with the findings, or contains them, by the environment.
    expect(error).toMatch(new RegExp(`${finding.source}|^ValidationFailed: Validation failed\\.`, 's'));
    expect(found.filter((entry) => !acknowledged.includes(entry))).toEqual([expect.stringMatching(finding)]);
  });
});
