import { rmSync } from 'node:fs';
import { type App, CfnResource, Validations } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks } from 'cdk-nag';
import { createStack } from './create-stack.ts';

/** The findings of cdk-nag's AWS Solutions rules in a stack, as `<path> <finding>`, sorted. */
export interface StackFindings {
  /** Acknowledged or not. */
  readonly findings: readonly string[];
  readonly acknowledged: readonly string[];
  /** Paths of acknowledgements that apply to more than one resource. */
  readonly acknowledgedGroups: readonly string[];
  /** Error of the synthesis with the rules, or undefined. */
  readonly error?: string;
}

type Created = ReturnType<typeof createStack>;

const functionPath = 'Claimcheck/CustomersEndpoints/get-customer/Function';

/** Adds a statement to the role of a function. */
const addStatement = ({ app }: Created, actions: string[], resources: string[]): void => {
  const handler = app.node.findAll().find(({ node }) => node.path === functionPath) as LambdaFunction;
  handler.addToRolePolicy(new PolicyStatement({ actions, resources }));
};

/** Changes of the stack that its synthesis has to reject. */
const changes = {
  'further action on all resources': (created) => addStatement(created, ['dynamodb:Scan'], ['*']),
  'wildcard in a resource': (created) =>
    addStatement(created, ['dynamodb:Query'], ['arn:aws:dynamodb:eu-west-1:123456789012:table/*']),
  'wildcard in an action': (created) =>
    addStatement(created, ['dynamodb:*'], ['arn:aws:dynamodb:eu-west-1:123456789012:table/Claimcheck']),
  'resource without an acknowledgement': ({ stack }) => {
    new ManagedPolicy(stack, 'Extra', {
      statements: [new PolicyStatement({ actions: ['xray:PutTraceSegments'], resources: ['*'] })],
    });
  },
} as const satisfies Record<string, (created: Created) => void>;
export type StackChange = keyof typeof changes;

/** Checks the changed stack without options with the rules. */
export const findFindingsOfChanges = (): Readonly<Record<StackChange, StackFindings>> =>
  Object.fromEntries(
    Object.entries(changes).map(([name, change]) => {
      const created = createStack({});
      change(created);
      const findings = checkStack(created);
      rmSync(created.app.outdir, { recursive: true, force: true });
      return [name, findings] as const;
    }),
  ) as Record<StackChange, StackFindings>;

/** Checks the stack with the rules, and synthesizes it into the folder of the app. */
export function checkStack({ app }: Created): StackFindings {
  const acknowledging = app.node
    .findAll()
    .filter(({ node }) => node.metadata.some(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY));
  const error = findSynthesisError(app);
  return {
    findings: listFindings(app).sort(),
    acknowledged: acknowledging
      .flatMap(({ node }) =>
        node.metadata
          .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
          .flatMap(({ data }) => Object.keys(data).map((id) => `${node.path} ${id.replace('AwsSolutions::', '')}`)),
      )
      .sort(),
    acknowledgedGroups: acknowledging
      .filter((construct) => !CfnResource.isCfnResource(construct))
      .map(({ node }) => node.path),
    ...(error !== undefined && { error }),
  };
}

const listFindings = (app: App): string[] =>
  new AwsSolutionsChecks(app)
    .validateScope(app)
    .violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath }) => `${constructPath} ${ruleName}`),
    );

function findSynthesisError(app: App): string | undefined {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  try {
    app.synth();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
