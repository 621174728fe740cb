import { describe, expect, it } from '@jest/globals';
import { type App, CfnResource, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks } from 'cdk-nag';
import { createStack, everyOption } from './stack-fixture.ts';

const stacks = [
  ['no option', {}],
  ['every option', everyOption],
] as const;

/** Lists the acknowledgements of all constructs as `<path> <finding>`. */
const listAcknowledgements = (app: App): string[] =>
  app.node
    .findAll()
    .flatMap(({ node }) =>
      node.metadata
        .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
        .flatMap(({ data }) => Object.keys(data).map((id) => `${node.path} ${id.replace('AwsSolutions::', '')}`)),
    );

/** Lists the findings, acknowledged or not. */
const listFindings = (app: App): string[] =>
  new AwsSolutionsChecks(app)
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${constructPath} ${ruleName}`),
    );

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Lists the statements with a wildcard in an action or a resource of all identity policies, by logical id. */
function listWildcardStatements(template: Template): [string, Statement][] {
  const { Resources } = template.toJSON() as {
    Resources: Record<string, { Type: string; Properties?: Record<string, unknown> }>;
  };
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

/** Adds a statement to the role of a function. */
const addStatement = ({ app }: { app: App }, path: string, actions: string[], resources: string[]): void => {
  const handler = app.node.findAll().find(({ node }) => node.path === path) as LambdaFunction;
  handler.addToRolePolicy(new PolicyStatement({ actions, resources }));
};

describe('acknowledgements of cdk-nag findings', () => {
  it.each(stacks)('apply to single resources and equal the findings of the stack with %s', (_name, options) => {
    const { app } = createStack(options);
    const findings = listFindings(app).sort();
    expect(findings.length).toBeGreaterThan(40);
    expect(listAcknowledgements(app).sort()).toEqual(findings);
    for (const construct of app.node.findAll())
      if (construct.node.metadata.some(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY))
        expect(CfnResource.isCfnResource(construct)).toBe(true);
  });

  it.each(stacks)('name each wildcard of the IAM policies with %s', (_name, options) => {
    const { stack } = createStack(options);
    const statements = listWildcardStatements(Template.fromStack(stack));
    const isStreamWorker = (id: string) => /^Workers(fanoutwebhooks|aggregatestatistics)/.test(id);
    expect(statements.filter(([id]) => isStreamWorker(id))).toHaveLength(2);
    const isOperator = (id: string) => /^OperatorPolicy[0-9A-F]{8}$/.test(id);
    expect(statements.filter(([id]) => isOperator(id)).map(([, statement]) => statement)).toEqual([
      { Effect: 'Allow', Action: 'lambda:GetAccountSettings', Resource: '*' },
    ]);
    for (const [id, statement] of statements.filter(([name]) => !isOperator(name))) {
      const actions = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments'];
      expect([id, statement]).toEqual([
        expect.stringMatching(/^(Console|Endpoints|NotificationEndpoints|Workers)\w+Role[0-9A-F]{8}$/),
        {
          Effect: 'Allow',
          Action: isStreamWorker(id) ? ['dynamodb:ListStreams', ...actions] : actions,
          Resource: '*',
        },
      ]);
    }
  });

  const functionPath = 'Claimcheck/Endpoints/get-customer/Function';

  it('fail the synthesis if a policy allows a further action on all resources', () => {
    const created = createStack({});
    addStatement(created, functionPath, ['dynamodb:Scan'], ['*']);
    expect(() => created.app.synth()).toThrow(/get-customer.+allows dynamodb:Scan, xray:PutTelemetryRecords/s);
  });

  it.each([
    ['a resource', ['dynamodb:Query'], ['arn:aws:dynamodb:eu-west-1:123456789012:table/*']],
    ['an action', ['dynamodb:*'], ['arn:aws:dynamodb:eu-west-1:123456789012:table/Claimcheck']],
  ])('do not accept a new wildcard in %s', (_name, actions, resources) => {
    const created = createStack({});
    addStatement(created, functionPath, actions, resources);
    Validations.of(created.app).addPlugins(new AwsSolutionsChecks(created.app));
    expect(() => created.app.synth()).toThrow(/get-customer.+IAM5/s);
    expect(listFindings(created.app)).toContainEqual(
      expect.stringMatching(/get-customer.+IAM5\[(Action|Resource)::.+\*/),
    );
  });

  it('do not accept the finding of a resource that is not acknowledged', () => {
    const { app, stack } = createStack({});
    new ManagedPolicy(stack, 'Extra', {
      statements: [new PolicyStatement({ actions: ['xray:PutTraceSegments'], resources: ['*'] })],
    });
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).toThrow(/Extra.+IAM5/s);
  });
});
