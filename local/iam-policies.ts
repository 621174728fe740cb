import * as v from 'valibot';
import type { TemplateNames } from './intrinsics.ts';
import { listResources, type Template } from './template.ts';

export interface IamAccess {
  readonly action: string;
  readonly resource: string;
  /** Partition keys of the written items. Undefined for a read and for other services. */
  readonly leadingKeys?: readonly string[];
}

/** The IAM policies of a template's functions and operators. Plain data, which other threads can have, too. */
export interface IamPolicies {
  readonly functions: readonly string[];
  /** Logical ids of the managed policies. A caller with this id has the permissions of the policy. */
  readonly managedPolicies: readonly string[];
  /** Statements by the id of a caller. */
  readonly statements: ReadonlyMap<string, readonly Statement[]>;
  /** ARNs of the tables by name and of the queues by URL. */
  readonly arns: ReadonlyMap<string, string>;
}

const Patterns = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((patterns) => [patterns].flat().map(toRegExp)),
);
const LeadingKeys = v.exactOptional(v.strictObject({ 'dynamodb:LeadingKeys': Patterns }));

/** The supported conditions. An access without leading keys does not fulfill them. */
const Condition = v.strictObject({
  'ForAllValues:StringLike': LeadingKeys,
  'ForAllValues:StringNotLike': LeadingKeys,
});
type Condition = v.InferOutput<typeof Condition>;
const Statement = v.object({
  Effect: v.literal('Allow'),
  Action: Patterns,
  Resource: Patterns,
  Condition: v.exactOptional(Condition),
});
type Statement = v.InferOutput<typeof Statement>;
const PolicyDocument = v.object({ Statement: v.array(Statement) });
const Policy = v.object({ PolicyDocument, Roles: v.array(v.string()) });
const ManagedPolicy = v.object({ PolicyDocument });
const Role = v.object({ Policies: v.optional(v.array(v.object({ PolicyDocument })), []) });
const FunctionRole = v.object({ Role: v.string() });

/** Reads the policies of the template. Ignores the policies of AWS that its roles name, which only allow logging. */
export function readIamPolicies(template: Template, names: TemplateNames): IamPolicies {
  const policies = [...listResources(template, 'AWS::IAM::Policy', { properties: Policy, names }).values()];
  const listAttached = (role: string) => policies.filter(({ Roles }) => Roles.includes(role));
  const roles = [...listResources(template, 'AWS::IAM::Role', { properties: Role, names })];
  const byRole = new Map(
    roles.map(([id, { Policies: inline }]) => [
      names.attribute(id, 'Arn'),
      [...inline, ...listAttached(names.ref(id))].flatMap(({ PolicyDocument }) => PolicyDocument.Statement),
    ]),
  );
  const functions = listResources(template, 'AWS::Lambda::Function', { properties: FunctionRole, names });
  const managedPolicies = listResources(template, 'AWS::IAM::ManagedPolicy', { properties: ManagedPolicy, names });
  const listArns = (type: string) =>
    [...listResources(template, type, { properties: v.object({}), names }).keys()].map(
      (id) => [names.ref(id), names.attribute(id, 'Arn')] as const,
    );
  return {
    functions: [...functions.keys()],
    managedPolicies: [...managedPolicies.keys()],
    statements: new Map([
      ...[...functions].map(([id, { Role: role }]) => [id, byRole.get(role) ?? []] as const),
      ...[...managedPolicies].map(([id, policy]) => [id, policy.PolicyDocument.Statement] as const),
    ]),
    arns: new Map([...listArns('AWS::DynamoDB::Table'), ...listArns('AWS::SQS::Queue')]),
  };
}

/** Throws for a caller that is not in the template. */
export function allowsAccess(
  { statements }: IamPolicies,
  callerId: string,
  { action, resource, leadingKeys }: IamAccess,
): boolean {
  const ownStatements = statements.get(callerId);
  if (!ownStatements) throw new Error(`${callerId} is neither a function nor a managed policy of the template.`);
  return ownStatements.some(
    ({ Action, Resource, Condition: condition }) =>
      matchesAny(Action, action) &&
      matchesAny(Resource, resource) &&
      (!condition || isFulfilled(condition, leadingKeys)),
  );
}

const matchesAny = (patterns: readonly RegExp[], text: string): boolean =>
  patterns.some((pattern) => pattern.test(text));

/**
 * All keys are allowed and none is excluded.
 * @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html
 */
function isFulfilled(condition: Condition, leadingKeys: readonly string[] | undefined): boolean {
  const allowed = condition['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
  const excluded = condition['ForAllValues:StringNotLike']?.['dynamodb:LeadingKeys'] ?? [];
  return leadingKeys?.every((key) => (!allowed || matchesAny(allowed, key)) && !matchesAny(excluded, key)) ?? false;
}

/** Converts an IAM pattern, in which `*` matches any text. */
function toRegExp(text: string): RegExp {
  const parts = text.split('*').map((part) => part.replace(/[.?+^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
