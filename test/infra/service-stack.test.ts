import { describe, expect, it } from '@jest/globals';
import { consoleRoute } from '../../infra/console-route.ts';
import { settingsWrites } from '../../infra/settings-writes.ts';
import { workers } from '../../infra/worker-definitions.ts';
import { contracts } from '../../lib/contracts/index.ts';
import { indexes } from '../../lib/foundation/key.ts';
import { notificationEndpoints } from '../../lib/store-notifications/notification-endpoints.ts';
import { matchesPattern } from '../../local/event-filter.ts';
import { allowsWrite, matchesKey } from '../../testing/limit-writes.ts';
import {
  findResources as findIn,
  type Json,
  listProperties as listIn,
  listResources,
  readStack,
} from '../../testing/stack-templates.ts';

const { root, joined } = await readStack('none');
const findResources = (type: string) => findIn(joined, type);
const listProperties = (type: string) => listIn(joined, type);
const getProperty = (type: string, name: string): unknown => listProperties(type)[0]?.[name];

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource?: unknown;
  readonly Condition?: object;
}

/** Returns the patterns of the partition keys that a condition allows. */
const readLeadingKeys = (condition: Json | undefined): readonly string[] =>
  condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? [];

/** Lists the statements of the inline policy of each function's role. */
const listFunctionPolicies = (): readonly (readonly Statement[])[] =>
  listProperties('AWS::IAM::Role')
    .filter(({ AssumeRolePolicyDocument: { Statement } }) => Statement[0].Principal.Service === 'lambda.amazonaws.com')
    .map(({ Policies }) => Policies.flatMap(({ PolicyDocument }: Json) => PolicyDocument.Statement));
/** Returns the statements of the function of a contract or worker. */
const getPolicy = (id: string): readonly Statement[] => {
  const lambda = listProperties('AWS::Lambda::Function').find(({ Handler }) => Handler === `${id}.handler`);
  const { Role } = lambda ?? {};
  const [roleId = ''] = Role?.['Fn::GetAtt'] ?? [];
  const { Policies = [] } = joined.Resources[roleId]?.Properties ?? {};
  return Policies.flatMap(({ PolicyDocument }: Json) => PolicyDocument.Statement);
};
const allowsInTemplate = (id: string, action: string, key: string): boolean =>
  getPolicy(id).some(
    ({ Action, Condition }) =>
      [Action].flat().includes(`dynamodb:${action}`) &&
      readLeadingKeys(Condition).some((pattern) => matchesKey(pattern, key)),
  );
const getRoutes = () => (getProperty('AWS::ApiGateway::RestApi', 'Body') as { paths: Record<string, object> }).paths;

describe('ServiceStack', () => {
  it('creates one function for each contract, notification endpoint and worker, one for the console, and one route for each path', () => {
    expect(listProperties('AWS::Lambda::Function')).toHaveLength(
      contracts.length + notificationEndpoints.length + workers.length + 1,
    );
    const documented = [
      ...contracts.flatMap(({ path, aliases }) => [path, ...aliases]),
      ...notificationEndpoints.flatMap(({ paths }) => paths),
      ...consoleRoute.paths,
      // Unknown paths.
      '/:proxy+',
    ];
    expect(Object.keys(getRoutes()).sort()).toEqual(
      [...new Set(documented.map((path) => path.replace(/:(\w+\+?)/g, '{$1}')))].sort(),
    );
  });

  it('offers preflights only on the routes that browsers call', () => {
    const paths = getRoutes();
    for (const { path, keyLevel } of contracts) {
      const methods = Object.keys(paths[path.replace(/:(\w+)/g, '{$1}')] ?? {});
      expect(methods.includes('options')).toBe(keyLevel !== 'secret');
    }
  });

  it('retains the table and enables point-in-time recovery and the stream', () => {
    const [table] = listResources(joined, 'AWS::DynamoDB::Table');
    expect(table).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      },
    });
    const tableIndexes = getProperty('AWS::DynamoDB::Table', 'GlobalSecondaryIndexes') as {
      IndexName: string;
      Projection: object;
    }[];
    expect(tableIndexes.map(({ IndexName }) => IndexName).sort()).toEqual(Object.keys(indexes).sort());
    for (const { Projection } of tableIndexes) expect(Projection).toEqual({ ProjectionType: 'KEYS_ONLY' });
  });

  it('lets API Gateway invoke exactly the functions of the routes, by roles that only API Gateway assumes', () => {
    const operations = Object.values(getRoutes()).flatMap((path) => Object.values(path)) as Json[];
    const integrations = operations
      .map((operation) => operation['x-amazon-apigateway-integration'])
      .filter(({ type }) => type === 'aws_proxy');
    const invokedByRole = new Map<string, Set<string>>();
    for (const { credentials, uri } of integrations) {
      const [roleId] = credentials['Fn::GetAtt'];
      const arn = JSON.stringify(uri['Fn::Join'][1].find((part: Json) => part['Fn::GetAtt']));
      invokedByRole.set(roleId, (invokedByRole.get(roleId) ?? new Set()).add(arn));
    }
    expect(invokedByRole.size).toBe(new Set(contracts.map(({ area }) => area)).size + 2);
    for (const [roleId, invoked] of invokedByRole) {
      const { Policies, AssumeRolePolicyDocument, ...others } = joined.Resources[roleId]?.Properties ?? {};
      expect(others).toEqual({});
      const [statement, ...furtherStatements] = Policies.flatMap(
        ({ PolicyDocument }: Json) => PolicyDocument.Statement,
      );
      expect(furtherStatements).toEqual([]);
      expect(statement).toMatchObject({ Effect: 'Allow', Action: 'lambda:InvokeFunction' });
      const arns = [statement.Resource].flat().map((arn: Json) => JSON.stringify(arn));
      expect(arns.sort()).toEqual([...invoked].sort());
      expect(AssumeRolePolicyDocument.Statement).toEqual([
        { Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'apigateway.amazonaws.com' } },
      ]);
    }
    for (const { Principal } of listProperties('AWS::Lambda::Permission'))
      expect(Principal).toBe('events.amazonaws.com');
  });

  it('allows only functions with the permission to change purchases or to decrypt secrets', () => {
    const policies = listFunctionPolicies().map((statements) => JSON.stringify(statements));
    const countPolicies = (action: string) => policies.filter((policy) => policy.includes(action)).length;
    const allPermissions = [...contracts, ...workers].map(({ permissions }) => permissions as readonly string[]);
    const writesWithoutPuts = Object.values(settingsWrites).filter((writes) =>
      writes.every(({ actions }) => !actions.includes('PutItem')),
    );
    expect(countPolicies('dynamodb:PutItem')).toBe(
      allPermissions.filter((permissions) => permissions.includes('write')).length - writesWithoutPuts.length,
    );
    const withSecrets = allPermissions.filter(
      (permissions) => permissions.includes('stores') || permissions.includes('secrets'),
    );
    expect(countPolicies('secretsmanager:GetSecretValue')).toBe(withSecrets.length + notificationEndpoints.length);
    for (const policy of policies) expect(policy).not.toMatch(/dynamodb:(\*|Scan|DeleteTable)/);
  });

  it('restricts the writes of every function by leading keys', () => {
    for (const statements of listFunctionPolicies()) {
      const writes = statements.filter(({ Action }) =>
        /dynamodb:(BatchWrite|Put|Update|Delete)Item/.test(String(Action)),
      );
      for (const { Condition } of writes) expect(JSON.stringify(Condition)).toContain('dynamodb:LeadingKeys');
    }
    expect(workers.find(({ id }) => id === 'send-webhook')?.writtenKeys).toEqual(['*#D#*', '*#H#*']);
    expect(JSON.stringify(getPolicy('send-webhook'))).toContain(
      '{"dynamodb:LeadingKeys":["*#D#*","*#H#*","*#E#*","*#G#*"]}',
    );
  });

  it.each(contracts.map((contract) => [contract.id, contract] as const))(
    'allows %s exactly the writes that it declares, within which the tests of endpoints run',
    (id, contract) => {
      const keys = ['APP#a', '_KEY#1', '_LIMIT#k#1', 'FX', ...'ABDEFGHIKLMOPQRSTUVWXYZ'].map((kind) =>
        kind.length === 1 ? `a#${kind}#1` : kind,
      );
      for (const key of [...keys, 'a#I', 'a#M', 'a#Y', 'a#S', 'a#C#x#P#y'])
        for (const action of ['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'])
          expect([key, action, allowsInTemplate(id, action, key)]).toEqual([
            key,
            action,
            allowsWrite(contract, { action, key }),
          ]);
    },
  );

  it('denies the writes of other items', () => {
    const listAllowed = (action: string, key: string): string[] =>
      contracts.map(({ id }) => id).filter((id) => allowsInTemplate(id, action, key));
    expect(listAllowed('PutItem', 'a#M')).toEqual(['create-entitlement-token']);
    expect(listAllowed('PutItem', 'a#I')).toEqual(['set-forwards', 'set-catalogue']);
    expect(listAllowed('UpdateItem', 'a#R#1')).toEqual(['answer-refund-request']);
    for (const key of ['a#S', 'a#Z#P', 'a#B#1', 'a#K#1', 'a#T', 'a#W', 'FX'])
      expect([key, listAllowed('PutItem', key), listAllowed('BatchWriteItem', key)]).toEqual([key, [], []]);
    for (const id of ['test-webhook', 'set-refund-consent', 'set-forwards', 'create-grant'])
      expect([id, allowsInTemplate(id, 'PutItem', 'a#P#1')]).toEqual([id, false]);
  });

  it('gives written keys only to endpoints that write', () => {
    const writers = contracts.filter(
      ({ permissions }) => permissions.includes('write') || permissions.includes('stores'),
    );
    for (const { id, writes } of contracts) if (writes) expect(writers.map((contract) => contract.id)).toContain(id);
    for (const { id, permissions, writes } of writers)
      if (permissions.includes('write')) expect([id, Boolean(writes) || id in settingsWrites]).toEqual([id, true]);
  });

  it('allows only the endpoints of settings to write apps and API keys, with the actions that they need', () => {
    const statements = listFunctionPolicies().flat();
    const listActions = (pattern: string): string[] =>
      statements
        .filter(({ Condition }) => readLeadingKeys(Condition).includes(pattern))
        .map(({ Action }) => [Action].flat().sort().join().replaceAll('dynamodb:', ''))
        .sort();
    expect(listActions('APP#*')).toEqual(['PutItem', 'UpdateItem', 'UpdateItem', 'UpdateItem', 'UpdateItem']);
    expect(listActions('_KEY#*')).toEqual(['DeleteItem,PutItem', 'DeleteItem,PutItem']);
    for (const id of Object.keys(settingsWrites))
      expect(contracts.find((contract) => contract.id === id)).toMatchObject({ keyLevel: 'secret' });
  });

  it('excludes purchases from the writes of every function that cannot read the master key, except for leases', () => {
    const writesPurchases = listFunctionPolicies()
      .filter((statements) => !JSON.stringify(statements).includes('secretsmanager:GetSecretValue'))
      .flat()
      .filter(({ Action, Condition }) => {
        if (!/dynamodb:(BatchWrite|Put|Update|Delete)Item/.test(String(Action))) return false;
        return readLeadingKeys(Condition).includes('*#P#*');
      });
    expect(workers.filter(({ writtenKeys }) => writtenKeys.includes('*#P#*')).map(({ id }) => id)).toEqual([
      'process-notification',
      'refresh-purchase',
      'enqueue-due-items',
    ]);
    expect(writesPurchases).toHaveLength(1);
    expect(contracts.find(({ id }) => id === 'add-customer-purchase')?.permissions).toContain('secrets');
  });

  it('allows each endpoint with a key to update only the rejection buckets, unless it has the permission to write', () => {
    const expected = {
      Action: 'dynamodb:UpdateItem',
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['_LIMIT#*'] } },
    };
    const updates = listFunctionPolicies().flatMap((statements) =>
      statements.filter(({ Action, Condition }) => {
        const isSettings = /"(APP#\*|\*#H#\*)"/.test(JSON.stringify(Condition));
        return Action === 'dynamodb:UpdateItem' && !isSettings;
      }),
    );
    expect(updates).toHaveLength(contracts.filter(({ keyLevel }) => keyLevel !== 'none').length);
    for (const statement of updates) expect(statement).toMatchObject(expected);
  });

  it('configures functions of a deployment without secrets and without the emulator', () => {
    for (const { Environment, Handler } of listProperties('AWS::Lambda::Function')) {
      if (Handler === 'get-console.handler') continue;
      const { Variables } = Environment as { Variables: Record<string, unknown> };
      const names = Object.keys(Variables).filter(
        (name) => !/^(?:NOTIFICATIONS|REFRESHES|WEBHOOKS|FORWARDS|STREAM_FAILURES)_QUEUE_URL$/.test(name),
      );
      expect(names.sort()).toEqual(['EVENT_RETENTION_DAYS', 'MASTER_KEY_ID', 'METRICS_NAMESPACE', 'TABLE_NAME']);
      expect(Variables.MASTER_KEY_ID).toEqual({ Ref: expect.stringMatching(/MasterKey/) });
    }
  });

  it('gives the function of the console only the permission to write its log, and no name of a resource', () => {
    const functions = listProperties('AWS::Lambda::Function');
    const { Environment, Role } = functions.find(({ Handler }) => Handler === 'get-console.handler') ?? {};
    expect(Environment).toEqual({ Variables: { EVENT_RETENTION_DAYS: expect.anything() } });
    const [roleId = ''] = (Role as { 'Fn::GetAtt': string[] })['Fn::GetAtt'];
    const { Properties } = joined.Resources[roleId] as Json;
    const statements = (Properties.Policies as { PolicyDocument: { Statement: { Action: string | string[] }[] } }[])
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .flatMap(({ Action }) => Action);
    expect(statements.sort()).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
  });

  it('gives long-running functions a full vCPU and the whole timeout of the gateway', () => {
    const functions = listProperties('AWS::Lambda::Function');
    const sizes = contracts.map(({ id, isLongRunning }) => {
      const lambda = functions.find(({ Handler }) => Handler === `${id}.handler`);
      return { isLongRunning: isLongRunning ?? false, size: [lambda?.MemorySize, lambda?.Timeout] };
    });
    for (const { size } of sizes.filter((entry) => entry.isLongRunning)) expect(size).toEqual([1769, 29]);
    expect(contracts.filter(({ isLongRunning }) => isLongRunning).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['list-purchases', 'list-transactions', 'list-events', 'get-stats', 'get-stats-v2']),
    );
    expect(sizes).toContainEqual({ isLongRunning: false, size: [512, 10] });
  });

  it('gives each queue a dead-letter queue and a visibility timeout of six times its worker timeout', () => {
    const queues = Object.values(findResources('AWS::SQS::Queue')).map(({ Properties }) => Properties);
    expect(queues).toHaveLength(9);
    const workQueues = queues.filter(({ RedrivePolicy }) => RedrivePolicy);
    expect(workQueues).toHaveLength(4);
    for (const { source, timeoutSeconds } of workers) {
      if (!('queue' in source)) continue;
      const [id] = Object.keys(findResources('AWS::SQS::Queue')).filter(
        (name) => name.startsWith(`Queues${source.queue}`) && !name.startsWith(`Queues${source.queue}dead`),
      );
      const queue = findResources('AWS::SQS::Queue')[id ?? ''];
      expect(queue?.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * timeoutSeconds);
    }
    const sources = listProperties('AWS::Lambda::EventSourceMapping');
    expect(sources).toHaveLength(workers.filter(({ source }) => !('everyMinutes' in source)).length);
    for (const { FunctionResponseTypes } of sources) expect(FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
  });

  it('lets the functions that read problems count the stream failures, and not receive them', () => {
    const readsFailures = ({ Action, Resource }: Statement): boolean =>
      Action === 'sqs:GetQueueAttributes' && /QueuesStreamFailures/.test(JSON.stringify(Resource));
    const readers = [...contracts, ...workers].filter(({ id }) => getPolicy(id).some(readsFailures));
    expect(readers.map(({ id }) => id)).toEqual(['get-due', 'send-alerts']);
    for (const { id } of readers) {
      const lambda = listProperties('AWS::Lambda::Function').find(({ Handler }) => Handler === `${id}.handler`);
      expect(lambda?.Environment.Variables).toHaveProperty('STREAM_FAILURES_QUEUE_URL');
      expect(JSON.stringify(getPolicy(id))).not.toContain('sqs:ReceiveMessage');
    }
  });

  it('compares the problems of apps with their alerts every minute', () => {
    expect(workers.find(({ id }) => id === 'send-alerts')?.source).toEqual({ everyMinutes: 1 });
  });

  it('ends a scheduled run before the next one starts, so that no alert is sent twice', () => {
    for (const { source, timeoutSeconds } of workers)
      if ('everyMinutes' in source) expect(timeoutSeconds).toBeLessThan(60 * source.everyMinutes);
  });

  it('retries stream records for 12 of the 24 hours that the stream retains them', () => {
    const streams = listProperties('AWS::Lambda::EventSourceMapping').filter(
      ({ StartingPosition }) => StartingPosition,
    );
    expect(streams).toHaveLength(2);
    for (const stream of streams) {
      expect(stream).toMatchObject({
        MaximumRetryAttempts: 10_000,
        MaximumRecordAgeInSeconds: 12 * 3600,
        BisectBatchOnFunctionError: true,
        DestinationConfig: { OnFailure: { Destination: expect.anything() } },
      });
    }
  });

  it('aggregates up to 1,000 records or 10 s of a shard in one batch', () => {
    const mapping = listProperties('AWS::Lambda::EventSourceMapping').find(({ FunctionName }) =>
      JSON.stringify(FunctionName).includes('aggregatestatistics'),
    );
    expect(mapping).toMatchObject({ BatchSize: 1_000, MaximumBatchingWindowInSeconds: 10 });
  });

  describe('event filters of the streams', () => {
    const keysOf = (sk: string) => ({ pk: { S: 'app#X#1' }, sk: { S: sk } });
    const dynamoDb = { type: 'Service', principalId: 'dynamodb.amazonaws.com' };
    /** Lists the functions that receive the record. */
    const listReceivers = (record: object): string[] =>
      listProperties('AWS::Lambda::EventSourceMapping').flatMap(({ FilterCriteria, FunctionName }) => {
        const { Filters = [] } = (FilterCriteria ?? {}) as { Filters?: { Pattern: string }[] };
        const isMatching = Filters.some(({ Pattern }) => matchesPattern(record, JSON.parse(Pattern)));
        return isMatching ? [(FunctionName as { Ref: string }).Ref.replace(/Function\w+$/, '')] : [];
      });

    it.each(['P', 'C', 'E', 'T#1', 'N#1#2', 'F', 'D', 'K', 'R', 'A'])('leave out TTL deletions of items %s', (sk) => {
      expect(listReceivers({ eventName: 'REMOVE', userIdentity: dynamoDb, dynamodb: { Keys: keysOf(sk) } })).toEqual(
        [],
      );
    });

    it.each(['P', 'C', 'E', 'T#1', 'N#1#2'])('pass each other change of items %s to the aggregator', (sk) => {
      for (const eventName of ['INSERT', 'MODIFY', 'REMOVE'])
        expect(listReceivers({ eventName, dynamodb: { Keys: keysOf(sk) } })).toContain('Workersaggregatestatistics');
    });

    it('pass the entries of credits that webhooks announce, but not what an app spends, to fan-out-webhooks', () => {
      const receive = (NewImage: object) =>
        listReceivers({ eventName: 'INSERT', dynamodb: { Keys: keysOf('E#P#credit_1'), NewImage } });
      expect(receive({ type: { S: 'taken-back' } })).toContain('Workersfanoutwebhooks');
      for (const image of [{ type: { S: 'spent' } }, { type: { S: 'taken' }, isRefused: { BOOL: true } }])
        expect(receive(image)).not.toContain('Workersfanoutwebhooks');
    });

    it('pass new versions of purchases to fan-out-webhooks, and new stream markers to both workers', () => {
      for (const eventName of ['INSERT', 'MODIFY']) {
        const receiveImage = (NewImage: object) =>
          listReceivers({ eventName, dynamodb: { Keys: keysOf('P'), NewImage } });
        expect(receiveImage({ version: { N: '1' } })).toContain('Workersfanoutwebhooks');
        expect(receiveImage({ version: { N: '1' }, isUnannounced: { BOOL: true } })).toEqual([
          'Workersaggregatestatistics',
        ]);
      }
      expect(listReceivers({ eventName: 'INSERT', dynamodb: { Keys: keysOf('F') } }).sort()).toEqual([
        'Workersaggregatestatistics',
        'Workersfanoutwebhooks',
      ]);
      for (const eventName of ['MODIFY', 'REMOVE'])
        expect(listReceivers({ eventName, dynamodb: { Keys: keysOf('F') } })).toEqual([]);
    });
  });

  it.each([
    ['webhooks', 24],
    ['notifications', 6],
  ])('retries messages of the queue %s for %s hours and raises an alarm within 30 minutes', (name, hours) => {
    const queues = findResources('AWS::SQS::Queue');
    const [id = ''] = Object.keys(queues).filter((key) => new RegExp(`^Queues${name}(?!dead)`).test(key));
    const { VisibilityTimeout, RedrivePolicy, MessageRetentionPeriod } = queues[id]?.Properties ?? {};
    const retrySeconds = VisibilityTimeout * RedrivePolicy.maxReceiveCount;
    expect(retrySeconds).toBeGreaterThanOrEqual(hours * 3600);
    expect(retrySeconds).toBeLessThan(MessageRetentionPeriod);
    const alarms = findResources('AWS::CloudWatch::Alarm');
    const [failing = ''] = Object.keys(alarms).filter((key) => key.startsWith(`MonitoringAlarms${name}failing`));
    const { EvaluationPeriods, DatapointsToAlarm, Threshold, Metrics } = alarms[failing]?.Properties ?? {};
    const periodSeconds = Metrics[1].MetricStat.Period;
    expect(EvaluationPeriods * periodSeconds).toBeLessThanOrEqual(1_800);
    // A single message must fail in enough periods to raise the alarm.
    expect(Threshold).toBe(1);
    expect(DatapointsToAlarm).toBeLessThan((EvaluationPeriods * periodSeconds) / VisibilityTimeout);
  });

  it('uses one parameter name for each position in a path, as API Gateway requires', () => {
    const names = new Map<string, string>();
    for (const path of Object.keys(getRoutes())) {
      for (const { 0: parameter, index } of path.matchAll(/\{\w+\}/g)) {
        const position = path.slice(0, index).replace(/\{\w+\}/g, '{}');
        expect(names.get(position) ?? parameter).toBe(parameter);
        names.set(position, parameter);
      }
    }
  });

  it('creates the CloudWatch role before the stage with the access log', () => {
    const [account] = Object.keys(findResources('AWS::ApiGateway::Account'));
    const [stage] = listResources(root, 'AWS::ApiGateway::Stage');
    expect(stage?.DependsOn).toContain(account);
  });

  it('keeps the CloudWatch role of the account after a failed creation, because all stages of a region use it', () => {
    const [role] = listResources(root, 'AWS::IAM::Role').filter(({ Properties }) =>
      JSON.stringify(Properties.ManagedPolicyArns ?? '').includes('AmazonAPIGatewayPushToCloudWatchLogs'),
    );
    const [account] = listResources(root, 'AWS::ApiGateway::Account');
    for (const resource of [role, account])
      expect(resource).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' });
  });

  it('omits query strings and headers from the access log', () => {
    const { Format } = getProperty('AWS::ApiGateway::Stage', 'AccessLogSetting') as { Format: string };
    expect(Format).not.toMatch(/querystring|header|\$context\.path/i);
  });

  it('describes symptom, impact and action in each alarm', () => {
    const alarms = listProperties('AWS::CloudWatch::Alarm');
    expect(alarms.length).toBeGreaterThanOrEqual(4);
    for (const { AlarmDescription } of alarms)
      expect(AlarmDescription).toMatch(
        /^[A-Z][^.:]+\. Impact: [A-Za-z][^.:]+\. Action: [a-z][^.:]+\. Severity: (page|ticket)\.$/,
      );
  });

  it('publishes all alarms to the topic of the stack outputs', () => {
    const [policy] = listProperties('AWS::SNS::TopicPolicy') as { PolicyDocument?: { Statement: object[] } }[];
    expect(policy?.PolicyDocument?.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
    const [topic] = Object.keys(findResources('AWS::SNS::Topic'));
    expect(joined.Outputs?.AlarmTopicArn?.Value).toEqual({ Ref: topic });
    for (const { AlarmActions } of listProperties('AWS::CloudWatch::Alarm'))
      expect(AlarmActions).toEqual([{ Ref: topic }]);
  });

  it('raises an alarm for handled failures, based on log metrics', () => {
    const filters = listProperties('AWS::Logs::MetricFilter') as Record<
      string,
      { Ref: string } & { MetricName: string }[]
    >[];
    const alarms = JSON.stringify(listProperties('AWS::CloudWatch::Alarm'));
    const names = filters.map(({ MetricTransformations }) => MetricTransformations?.[0]?.MetricName ?? '');
    expect(names).toEqual(expect.arrayContaining(['validate-receipt-Error', 'validate-receipt-StoreUnavailable']));
    for (const { id } of notificationEndpoints) expect(names).toContain(`${id}-Error`);
    for (const name of names) expect(alarms).toContain(name);
    const logs = Object.keys(findResources('AWS::Logs::LogGroup'));
    for (const { LogGroupName } of filters) expect(logs).toContain(LogGroupName?.Ref);
  });

  it('creates an alarm for each worker, and one for a missing schedule of enqueue-due-items', () => {
    const alarms = Object.keys(findResources('AWS::CloudWatch::Alarm'));
    for (const { id, source } of workers) {
      const subject = 'queue' in source ? source.queue : id;
      expect(alarms.some((name) => name.startsWith(`MonitoringAlarms${subject.replaceAll('-', '')}`))).toBe(true);
    }
    expect(listProperties('AWS::CloudWatch::Alarm')).toContainEqual(
      expect.objectContaining({
        MetricName: 'Invocations',
        ComparisonOperator: 'LessThanThreshold',
        TreatMissingData: 'breaching',
      }),
    );
  });

  it('outputs a base URL without a trailing slash', () => {
    const [stage] = Object.keys(findResources('AWS::ApiGateway::Stage'));
    const url = joined.Outputs?.ApiUrl?.Value as { 'Fn::Join': [string, object[]] };
    expect(url['Fn::Join'][1].at(-1)).toEqual({ Ref: stage });
  });

  it('limits the concurrency of queue workers', () => {
    const queues = listProperties('AWS::Lambda::EventSourceMapping').filter(({ ScalingConfig }) => ScalingConfig);
    expect(queues).toHaveLength(workers.filter(({ source }) => 'queue' in source).length);
  });
});
