/** The parts of a template that the record concerns. */
interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
}

interface TemplateResource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type has its own properties.
  readonly Properties?: Readonly<Record<string, any>>;
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
}

/** Type and identity of each resource that holds data, by logical id. */
export type StatefulResources = Readonly<Record<string, StatefulResource>>;

interface StatefulResource {
  readonly type: string;
  /** Names, keys and retention. A deployment that changes or removes one of them loses data. */
  readonly identity: Readonly<Record<string, string>>;
}

interface StatefulType {
  /** Effect of a new resource that is created in addition to the old one, or in its place. */
  readonly loss: string;
  /** Properties whose change replaces the resource or its content. */
  readonly frozen: readonly string[];
}

const mappingType = 'AWS::Lambda::EventSourceMapping';

/**
 * Resource types that hold data, or a name that others have stored.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
 */
const statefulTypes: Readonly<Record<string, StatefulType>> = {
  'AWS::DynamoDB::Table': {
    loss: 'the service would start with an empty table, without its apps, purchases, customers, events and statistics',
    frozen: ['TableName', 'StreamSpecification', 'TimeToLiveSpecification'],
  },
  'AWS::SecretsManager::Secret': {
    loss: 'the service would have a new master key, and could decrypt no store settings, secret keys, signing secrets and refresh tokens',
    frozen: ['Name', 'GenerateSecretString'],
  },
  'AWS::SQS::Queue': {
    loss: 'the messages of up to 14 days in the queue would not be processed',
    frozen: ['QueueName', 'FifoQueue'],
  },
  'AWS::ApiGateway::RestApi': {
    loss: 'the API would have a new URL, and released clients would reach no service',
    frozen: ['Name'],
  },
  'AWS::ApiGateway::Stage': {
    loss: 'the API would have a new URL, and released clients would reach no service',
    frozen: ['StageName'],
  },
  'AWS::ApiGateway::DomainName': {
    loss: 'the DNS record of the domain name would have a target without a service',
    frozen: [],
  },
  'AWS::Backup::BackupVault': {
    loss: 'the backups of a year would be outside of the stack, and the new vault would be empty',
    frozen: ['BackupVaultName'],
  },
  'AWS::SNS::Topic': {
    loss: 'the confirmed subscriptions would be deleted, and alarms would notify no operator',
    frozen: ['TopicName', 'FifoTopic'],
  },
  [mappingType]: {
    loss: 'the position in the stream would be lost, and 24 hours of records would be processed again',
    frozen: ['EventSourceArn', 'StartingPosition'],
  },
  'AWS::Logs::LogGroup': {
    loss: 'the log of a month would be deleted',
    frozen: ['LogGroupName'],
  },
  'AWS::IAM::ManagedPolicy': {
    loss: 'the roles of operators would have a policy that is deleted',
    frozen: ['ManagedPolicyName', 'Path'],
  },
};

/** Lists the resources that hold data, in the order of their logical ids. */
export function listStatefulResources({ Resources }: Template): StatefulResources {
  const resources = Object.entries(Resources).flatMap(([id, resource]) => {
    const frozen = statefulTypes[resource.Type]?.frozen;
    // The mapping of a queue lacks a position.
    const holdsData = resource.Type !== mappingType || resource.Properties?.StartingPosition !== undefined;
    return frozen && holdsData ? [[id, { type: resource.Type, identity: toIdentity(resource, frozen) }] as const] : [];
  });
  return Object.fromEntries(resources.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function toIdentity(
  { Properties = {}, DeletionPolicy, UpdateReplacePolicy }: TemplateResource,
  frozen: readonly string[],
): StatefulResource['identity'] {
  const values: Readonly<Record<string, unknown>> = {
    ...Object.fromEntries(frozen.map((name) => [name, Properties[name]])),
    ...listKeys(Properties),
    DeletionPolicy,
    UpdateReplacePolicy,
  };
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value === undefined ? unset : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/** A name that CloudFormation generates, or a default. */
const unset = '(not set)';

/** Lists the keys of a table and of each index with the types of their attributes. */
function listKeys({ KeySchema, GlobalSecondaryIndexes = [], AttributeDefinitions = [] }: Properties): object {
  if (!KeySchema) return {};
  const types = new Map(AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]));
  const toText = (schema: KeySchema): string =>
    schema.map(({ AttributeName, KeyType }) => `${AttributeName} (${KeyType}, ${types.get(AttributeName)})`).join(', ');
  const indexes = GlobalSecondaryIndexes.map(
    (index) => [`index ${index.IndexName}`, `${toText(index.KeySchema)}, ${index.Projection.ProjectionType}`] as const,
  );
  return { keys: toText(KeySchema), ...Object.fromEntries(indexes) };
}

type KeySchema = readonly { readonly AttributeName: string; readonly KeyType: string }[];

interface Properties {
  readonly KeySchema?: KeySchema;
  readonly GlobalSecondaryIndexes?: readonly {
    readonly IndexName: string;
    readonly KeySchema: KeySchema;
    readonly Projection: { readonly ProjectionType: string };
  }[];
  readonly AttributeDefinitions?: readonly { readonly AttributeName: string; readonly AttributeType: string }[];
}

/** Path of the record in the project. */
export const recordFile = 'infra/stateful-resources.json';

const command = 'npm run stateful';

/** Lists a sentence for each recorded resource that a deployment would lose: what would be lost, and what to do. */
export function listLosses(recorded: StatefulResources, current: StatefulResources): string[] {
  return Object.entries(recorded).flatMap(([id, { type, identity }]) => {
    const advice = (target: string): string =>
      `Restore ${target}. If the loss is intended, run ${command} -- --accept ${id}.`;
    const loss = statefulTypes[type]?.loss ?? 'its content would be lost';
    const present = current[id];
    if (present?.type !== type)
      return [
        `${id} (${type}) is missing from the template: after a deployment, ${loss}. ${advice('the id and the path of its construct')}`,
      ];
    return Object.entries(identity)
      .filter(([name, value]) => (present.identity[name] ?? unset) !== value)
      .map(
        ([name, value]) =>
          `${id} (${type}) has the ${name} ${present.identity[name] ?? unset} instead of ${value}: after a deployment that replaces or deletes it, ${loss}. ${advice(`the ${name}`)}`,
      );
  });
}

/** Lists a sentence for each resource, and each name or key of one, that is not recorded yet. */
export function listUnrecorded(recorded: StatefulResources, current: StatefulResources): string[] {
  return Object.entries(current).flatMap(([id, { type, identity }]) => {
    const advice = `is not in ${recordFile}. Run ${command} and commit the file.`;
    const existing = recorded[id];
    if (existing?.type !== type) return [`${id} (${type}) ${advice}`];
    return Object.keys(identity)
      .filter((name) => !(name in existing.identity))
      .map((name) => `The ${name} of ${id} (${type}) ${advice}`);
  });
}
