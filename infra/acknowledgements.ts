import { CfnResource, Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { FunctionRole } from './function-role.ts';

/**
 * Accepts a finding of cdk-nag's AWS Solutions rules for one resource, with the reason. The same finding of a different
 * resource fails the check. A finding is the rule, such as `SQS3`, and for some rules a detail: `IAM5[Resource::*]`.
 */
export function acknowledgeFinding(construct: IConstruct, finding: string, reason: string): void {
  const resource = construct.node.defaultChild;
  if (!CfnResource.isCfnResource(resource)) throw new Error(`${construct.node.path} is not a resource.`);
  Validations.of(resource).acknowledge({ id: `AwsSolutions::AwsSolutions-${finding}`, reason });
}

const xRayReason = 'X-Ray does not support resource-level permissions.';

/** Actions that policies allow on all resources, with the reason. */
const wildcardActions = {
  'dynamodb:ListStreams': 'CDK grants it for all streams. It returns ARNs of streams, and not their records.',
  'xray:PutTelemetryRecords': xRayReason,
  'xray:PutTraceSegments': xRayReason,
} as const satisfies Record<string, string>;
export type WildcardAction = keyof typeof wildcardActions;

/**
 * Accepts that the policy of a role allows exactly these actions on the resource `*`. The finding of cdk-nag does not
 * contain actions, so any difference fails the synthesis.
 */
export function acknowledgeWildcards(role: FunctionRole, actions: readonly WildcardAction[]): void {
  const reasons = actions.map((action) => `${action}: ${wildcardActions[action]}`);
  if (reasons.length > 0) acknowledgeFinding(role, 'IAM5[Resource::*]', reasons.join(' '));
  const expected = [...actions].sort().join(', ');
  role.node.addValidation({
    validate: () => {
      const allowed = listWildcardActions(role).join(', ');
      return allowed === expected ? [] : [`On all resources, the role allows ${allowed} and not ${expected}.`];
    },
  });
}

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Lists the actions that the policy of the role allows on the resource `*`, sorted. */
function listWildcardActions(role: FunctionRole): string[] {
  const { Statement: statements } = Stack.of(role).resolve(role.document) as { Statement: Statement[] };
  return statements
    .filter(({ Resource }) => [Resource].flat().includes('*'))
    .flatMap(({ Action }) => Action)
    .sort();
}
