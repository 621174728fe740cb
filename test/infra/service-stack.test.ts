import { mkdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { bundlesFolder } from '../../infra/build-functions.ts';
import { ServiceStack } from '../../infra/service-stack.ts';
import { workers } from '../../infra/workers.ts';
import { contracts } from '../../lib/api/index.ts';
import { indexes } from '../../lib/db/keys.ts';
import { notificationEndpoints } from '../../lib/store-notifications/notification-endpoints.ts';

// The stack names the folder of the bundles; what is in it is not looked at here.
beforeAll(() => {
  mkdirSync(bundlesFolder, { recursive: true });
});

// The settings that `cdk deploy` synthesizes with.
const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> };
const newApp = () => new App({ context });

let made: Template | undefined;
const template = (): Template => {
  made ??= Template.fromStack(new ServiceStack(newApp(), 'Claimcheck'));
  return made;
};

interface Resource {
  readonly Properties: Readonly<Record<string, unknown>>;
}
const propertiesOf = (type: string) =>
  Object.values(template().findResources(type) as Record<string, Resource>).map(({ Properties }) => Properties);
const propertyOf = (type: string, name: string): unknown => propertiesOf(type)[0]?.[name];
const routes = () => (propertyOf('AWS::ApiGateway::RestApi', 'Body') as { paths: Record<string, object> }).paths;

describe('the stack', () => {
  it("passes cdk-nag's AWS Solutions rules, every exception explained", () => {
    const app = newApp();
    new ServiceStack(app, 'Claimcheck');
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
  });

  it('has one function a contract, hook and worker, and one route for each path and alias', () => {
    template().resourceCountIs(
      'AWS::Lambda::Function',
      contracts.length + notificationEndpoints.length + workers.length,
    );
    const documented = [
      ...contracts.flatMap(({ path, aliases }) => [path, ...aliases]),
      ...notificationEndpoints.flatMap(({ paths }) => paths),
    ];
    expect(Object.keys(routes()).sort()).toEqual(
      [...new Set(documented.map((path) => path.replace(/:(\w+)/g, '{$1}')))].sort(),
    );
  });

  it('offers preflights on the routes that browsers call and on no others', () => {
    const paths = routes();
    for (const { path, keyLevel } of contracts) {
      const methods = Object.keys(paths[path.replace(/:(\w+)/g, '{$1}')] ?? {});
      expect(methods.includes('options')).toBe(keyLevel !== 'secret');
    }
  });

  it('keeps the table, its history and its stream', () => {
    template().hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: Match.objectLike({
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
        TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      }),
    });
    const made = propertyOf('AWS::DynamoDB::Table', 'GlobalSecondaryIndexes') as {
      IndexName: string;
      Projection: object;
    }[];
    expect(made.map(({ IndexName }) => IndexName).sort()).toEqual(Object.keys(indexes).sort());
    for (const { Projection } of made) expect(Projection).toEqual({ ProjectionType: 'KEYS_ONLY' });
  });

  it('lets only the functions that need it change purchases or open secrets', () => {
    const policies = propertiesOf('AWS::IAM::Policy').map((policy) => JSON.stringify(policy));
    const count = (word: string) => policies.filter((policy) => policy.includes(word)).length;
    const all = [...contracts, ...workers].map(({ permissions }) => permissions as readonly string[]);
    expect(count('dynamodb:UpdateItem')).toBe(all.filter((needs) => needs.includes('write')).length);
    const opens = all.filter((needs) => needs.includes('stores') || needs.includes('secrets'));
    expect(count('secretsmanager:GetSecretValue')).toBe(opens.length + notificationEndpoints.length);
    for (const policy of policies) expect(policy).not.toMatch(/dynamodb:(\*|Scan|DeleteTable)/);
  });

  it('puts no secret and no emulator into a function of a deployment', () => {
    for (const { Environment } of propertiesOf('AWS::Lambda::Function')) {
      const { Variables } = Environment as { Variables: Record<string, unknown> };
      const names = Object.keys(Variables).filter(
        (name) => !/^(?:NOTIFICATIONS|REFRESHES|WEBHOOKS)_QUEUE_URL$/.test(name),
      );
      expect(names.sort()).toEqual(['EVENT_RETENTION_DAYS', 'MASTER_KEY_ID', 'TABLE_NAME']);
      expect(Variables.MASTER_KEY_ID).toEqual({ Ref: expect.stringMatching(/MasterKey/) });
    }
  });

  it('gives a whole processor, and all the time that the gateway waits, to what may read thousands of rows', () => {
    const functions = propertiesOf('AWS::Lambda::Function');
    const sizes = contracts.map(({ id, area, isLongRunning }) => {
      const made = functions.find(({ Handler }) => Handler === `${area}/${id}.handler`);
      return { isHeavy: isLongRunning ?? false, size: [made?.MemorySize, made?.Timeout] };
    });
    for (const { size } of sizes.filter(({ isHeavy }) => isHeavy)) expect(size).toEqual([1769, 29]);
    expect(contracts.filter(({ isLongRunning }) => isLongRunning).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['list-purchases', 'list-transactions', 'list-events', 'get-stats', 'get-stats-v2']),
    );
    expect(sizes).toContainEqual({ isHeavy: false, size: [512, 10] });
  });

  it('gives every queue a place for what cannot be handled, and time enough for its worker', () => {
    const queues = Object.values(template().findResources('AWS::SQS::Queue')).map(({ Properties }) => Properties);
    expect(queues).toHaveLength(7);
    const working = queues.filter(({ RedrivePolicy }) => RedrivePolicy);
    expect(working).toHaveLength(3);
    for (const { source, timeoutSeconds } of workers) {
      if (!('queue' in source)) continue;
      const [id] = Object.keys(template().findResources('AWS::SQS::Queue')).filter(
        (name) => name.startsWith(`Queues${source.queue}`) && !name.startsWith(`Queues${source.queue}dead`),
      );
      const queue = template().findResources('AWS::SQS::Queue')[id ?? ''];
      expect(queue?.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * timeoutSeconds);
    }
    const sources = propertiesOf('AWS::Lambda::EventSourceMapping');
    expect(sources).toHaveLength(workers.filter(({ source }) => !('every' in source)).length);
    for (const { FunctionResponseTypes } of sources) expect(FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
  });

  it('outlives an outage of half a day with what waits in the stream, and leaves as long to read what it gives up', () => {
    const streams = propertiesOf('AWS::Lambda::EventSourceMapping').filter(({ StartingPosition }) => StartingPosition);
    expect(streams).toHaveLength(2);
    for (const stream of streams) {
      expect(stream).toMatchObject({
        ...{ MaximumRetryAttempts: 10_000, MaximumRecordAgeInSeconds: 12 * 3600, BisectBatchOnFunctionError: true },
        DestinationConfig: { OnFailure: { Destination: expect.anything() } },
      });
    }
  });

  it.each([
    ['webhooks', 24],
    ['notifications', 6],
  ])('outlives an outage with what waits in the queue of %s, and tells of it within half an hour', (name, hours) => {
    const queues = template().findResources('AWS::SQS::Queue');
    const [id = ''] = Object.keys(queues).filter((key) => new RegExp(`^Queues${name}(?!dead)`).test(key));
    const { VisibilityTimeout, RedrivePolicy, MessageRetentionPeriod } = queues[id]?.Properties ?? {};
    const patienceSeconds = VisibilityTimeout * RedrivePolicy.maxReceiveCount;
    expect(patienceSeconds).toBeGreaterThanOrEqual(hours * 3600);
    expect(patienceSeconds).toBeLessThan(MessageRetentionPeriod);
    const alarms = template().findResources('AWS::CloudWatch::Alarm');
    const [failing = ''] = Object.keys(alarms).filter((key) => key.startsWith(`Alarms${name}failing`));
    const { EvaluationPeriods, DatapointsToAlarm, Threshold, Metrics } = alarms[failing]?.Properties ?? {};
    const periodSeconds = Metrics[1].MetricStat.Period;
    expect(EvaluationPeriods * periodSeconds).toBeLessThanOrEqual(1_800);
    // One message alone fails in so many of the periods.
    expect(Threshold).toBe(1);
    expect(DatapointsToAlarm).toBeLessThan((EvaluationPeriods * periodSeconds) / VisibilityTimeout);
  });

  it('names a parameter alike wherever it stands in the same place, as API Gateway demands', () => {
    const names = new Map<string, string>();
    for (const path of Object.keys(routes())) {
      for (const { 0: parameter, index } of path.matchAll(/\{\w+\}/g)) {
        const place = path.slice(0, index).replace(/\{\w+\}/g, '{}');
        expect(names.get(place) ?? parameter).toBe(parameter);
        names.set(place, parameter);
      }
    }
  });

  it('can keep an access log in an account that has never kept one', () => {
    const [account] = Object.keys(template().findResources('AWS::ApiGateway::Account'));
    template().hasResource('AWS::ApiGateway::Stage', { DependsOn: Match.arrayWith([account]) });
  });

  it('logs no query and no header of a request', () => {
    const { Format } = propertyOf('AWS::ApiGateway::Stage', 'AccessLogSetting') as { Format: string };
    expect(Format).not.toMatch(/querystring|header|\$context\.path/i);
  });

  it('says in every alarm who is hurt', () => {
    const alarms = propertiesOf('AWS::CloudWatch::Alarm');
    expect(alarms.length).toBeGreaterThanOrEqual(4);
    for (const { AlarmDescription } of alarms) expect(AlarmDescription).toMatch(/^[A-Z][a-z ]+ (is|are) hurt: /);
  });

  it('tells of alarms: they may publish to the topic that the outputs name', () => {
    const [policy] = propertiesOf('AWS::SNS::TopicPolicy') as { PolicyDocument?: { Statement: object[] } }[];
    expect(policy?.PolicyDocument?.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
    );
    const [topic] = Object.keys(template().findResources('AWS::SNS::Topic'));
    template().hasOutput('AlarmTopicArn', { Value: { Ref: topic } });
    for (const { AlarmActions } of propertiesOf('AWS::CloudWatch::Alarm'))
      expect(AlarmActions).toEqual([{ Ref: topic }]);
  });

  it('counts the failures that are answered: no crash tells the platform of them', () => {
    const filters = propertiesOf('AWS::Logs::MetricFilter') as Record<
      string,
      { Ref: string } & { MetricName: string }[]
    >[];
    const alarms = JSON.stringify(propertiesOf('AWS::CloudWatch::Alarm'));
    const names = filters.map(({ MetricTransformations }) => MetricTransformations?.[0]?.MetricName ?? '');
    expect(names).toEqual(expect.arrayContaining(['validate-receipt-Fault', 'validate-receipt-Unreachable']));
    for (const { id } of notificationEndpoints) expect(names).toContain(`${id}-Fault`);
    for (const name of names) expect(alarms).toContain(name);
    const logs = Object.keys(template().findResources('AWS::Logs::LogGroup'));
    for (const { LogGroupName } of filters) expect(logs).toContain(LogGroupName?.Ref);
  });

  it('has an alarm for each worker, and one for a sweep that is not called any more', () => {
    const alarms = Object.keys(template().findResources('AWS::CloudWatch::Alarm'));
    for (const { id, source } of workers) {
      const watched = 'queue' in source ? source.queue : id;
      expect(alarms.some((name) => name.startsWith(`Alarms${watched.replaceAll('-', '')}`))).toBe(true);
    }
    template().hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'Invocations',
      ComparisonOperator: 'LessThanThreshold',
      TreatMissingData: 'breaching',
    });
  });

  it('names a base URL to which paths are added', () => {
    const [stage] = Object.keys(template().findResources('AWS::ApiGateway::Stage'));
    const { Value } = template().findOutputs('ApiUrl').ApiUrl as { Value: { 'Fn::Join': [string, object[]] } };
    expect(Value['Fn::Join'][1].at(-1)).toEqual({ Ref: stage });
  });

  it('leaves concurrency to the buyers when there is much to do in the background', () => {
    const queues = propertiesOf('AWS::Lambda::EventSourceMapping').filter(({ ScalingConfig }) => ScalingConfig);
    expect(queues).toHaveLength(workers.filter(({ source }) => 'queue' in source).length);
  });
});
