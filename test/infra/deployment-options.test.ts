import { describe, expect, it } from '@jest/globals';
import { RootConstruct } from 'constructs';
import * as v from 'valibot';
import {
  defaultLimits,
  getLimits,
  getStackName,
  isProduction,
  readDeploymentOptions,
} from '../../infra/deployment-options.ts';
import { sendsToOwnQueue, workers } from '../../infra/worker-definitions.ts';
import { ErrorBody } from '../../lib/api/errors.ts';
import { indexes } from '../../lib/foundation/key.ts';
import { verifyPurchase } from '../../lib/openiap/contract.ts';
import { notificationEndpoints } from '../../lib/store-notifications/notification-endpoints.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { listHeadings, readDocument, readSection } from '../../testing/documents.ts';
import { everyOption, type StackId } from '../../testing/stack-options.ts';
import {
  findResources as findIn,
  type Json,
  listResources as listIn,
  listProperties,
  readStack,
  type SynthesizedStack,
} from '../../testing/stack-templates.ts';

const stacks = {
  none: await readStack('none'),
  every: await readStack('every'),
  everyWithoutAdoption: await readStack('everyWithoutAdoption'),
  canary: await readStack('canary'),
  immediate: await readStack('immediate'),
  stateful: await readStack('stateful'),
} as const satisfies Partial<Record<StackId, SynthesizedStack>>;

const listResources = (id: keyof typeof stacks, type: string) => listIn(stacks[id].joined, type);
const findResources = (id: keyof typeof stacks, type: string) => findIn(stacks[id].joined, type);

/** Lists the values of a variable in the functions of the service. */
const listVariables = (id: keyof typeof stacks, name: string) =>
  listResources(id, 'AWS::Lambda::Function')
    .map(({ Properties }) => Properties.Environment?.Variables ?? {})
    .flatMap((variables) => (variables.EVENT_RETENTION_DAYS ? [variables[name]] : []));

/** Reads the options of `cdk deploy -c <option>=<value> …`. */
function readOptions(context: Readonly<Record<string, unknown>>) {
  const { node } = new RootConstruct();
  for (const [name, value] of Object.entries(context)) node.setContext(name, value);
  return readDeploymentOptions(node);
}

describe('readDeploymentOptions', () => {
  it.each([
    [{ stage: 'Production!' }, 'stage'],
    [{ domainName: 'purchases.example.com' }, 'certificateArn'],
    [{ basePath: 'v1' }, 'domainName'],
    [{ alarmEmail: 'nobody' }, 'alarmEmail'],
    [{ tableName: 'restored' }, 'masterKeyArn'],
    [{ maxConcurrency: '1' }, 'maxConcurrency'],
    [{ waf: 'perhaps' }, 'waf'],
    [{ monthlyBudgetUsd: '10' }, 'alarmEmail'],
    [{ canary: 'Canary50Percent1Minute' }, 'canary'],
    [{ requestsPerKey: '10' }, 'requestsPerKey'],
    [{ counterParts: '41' }, 'counterParts'],
    [{ otlpTracesUrl: 'http://collector.example/v1/traces' }, 'otlpTracesUrl'],
    [{ stageRequestsPerSecond: '1000' }, 'at most half of stageRequestsPerSecond'],
    [{ wafRequestsPerKey: '1000' }, 'require waf'],
    [{ backupCopyVaultArn: 'arn:aws:backup:eu-central-1:1:backup-vault:copies' }, 'requires backup'],
    [{ masterKeyReplicaRegion: 'Frankfurt' }, 'masterKeyReplicaRegion'],
    [{ tableRevision: '2' }, 'requires tableName'],
    [{ waf: 'true', wafRequestsPerAddress: '5' }, 'wafRequestsPerAddress'],
    [{ eventRetentionDays: 'x' }, 'eventRetentionDays'],
    [{ eventRetentionDays: '0' }, 'eventRetentionDays'],
    [{ alarmEmial: 'ops@example.com', stage: 'production' }, 'unknown names: alarmEmial. The names are: stage, '],
  ])('rejects %j and names %s', (options, name) => {
    expect(() => readOptions(options)).toThrow(name);
  });

  it('accepts the settings of the CDK', () => {
    const context = {
      '@aws-cdk/core:stackRelativeExports': true,
      'cli-telemetry': false,
      'acknowledged-issue-numbers': [1],
    };
    expect(readOptions(context)).toEqual({});
  });
});

describe('ServiceStack with deployment options', () => {
  it('derives stack name, tag and termination protection from its stage', () => {
    expect([stacks.none.stackName, stacks.none.isProtected]).toEqual(['Claimcheck', false]);
    const staging = readOptions({ stage: 'staging' });
    expect([getStackName(staging), isProduction(staging)]).toEqual(['Claimcheck-staging', false]);
    expect([stacks.every.stackName, stacks.every.isProtected]).toEqual(['Claimcheck-production', true]);
    const tag = { Key: 'claimcheck:stage', Value: 'production' };
    for (const type of ['AWS::SQS::Queue', 'AWS::Lambda::Function', 'AWS::CloudWatch::Alarm'])
      for (const { Properties } of listResources('every', type)) expect(Properties.Tags).toContainEqual(tag);
  });

  it('gives no resource a physical name without the stack name, so that stages of one account do not clash', () => {
    const nameProperties = {
      'AWS::Lambda::Function': 'FunctionName',
      'AWS::SQS::Queue': 'QueueName',
      'AWS::SNS::Topic': 'TopicName',
      'AWS::Logs::LogGroup': 'LogGroupName',
      'AWS::IAM::Role': 'RoleName',
      'AWS::CloudWatch::Alarm': 'AlarmName',
      'AWS::CloudWatch::Dashboard': 'DashboardName',
      'AWS::DynamoDB::Table': 'TableName',
      'AWS::SecretsManager::Secret': 'Name',
      'AWS::Events::Rule': 'Name',
    };
    for (const [type, property] of Object.entries(nameProperties)) {
      const resources = listResources('none', type);
      expect(resources.length).toBeGreaterThan(0);
      for (const { Properties = {} } of resources) expect(Properties[property]).toBeUndefined();
    }
    for (const { Properties } of listResources('none', 'AWS::Logs::MetricFilter'))
      expect(Properties.MetricTransformations[0].MetricNamespace).toBe('Claimcheck/Claimcheck');
  });

  it('gives each function a log group that ends with the stack, even if the stack adopts a table', () => {
    const groups = findResources('every', 'AWS::Logs::LogGroup');
    for (const { Properties } of listResources('every', 'AWS::Lambda::Function'))
      expect(groups[Properties.LoggingConfig?.LogGroup.Ref]).toMatchObject({ DeletionPolicy: 'Delete' });
  });

  it('reads the stream of an adopted table again for another revision', () => {
    const descriptions = Object.values(findResources('every', 'Custom::AWS'));
    expect(descriptions.map(({ Properties }) => Properties.TableRevision)).toEqual([everyOption.tableRevision]);
  });

  it('uses the names of the runbook that restores the table, and documents every index', () => {
    const runbook = readDocument('docs/operating/restore.md');
    for (const id of ['DataTableFDBAD0F2', 'SecretsMasterKeyB31759EC']) {
      expect(Object.keys(stacks.none.joined.Resources)).toContain(id);
      expect(runbook).toContain(`\`${id}\``);
    }
    const [, listed = ''] = /and the indexes (.+) as `ACTIVE`/.exec(runbook) ?? [];
    expect([...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(Object.keys(indexes).sort());
  });

  it('names the backup plan after the stack, and the vault after the stack and its id', () => {
    const [plan] = listResources('every', 'AWS::Backup::BackupPlan');
    expect(plan?.Properties.BackupPlan.BackupPlanName).toBe('Claimcheck-production');
    const [vault] = listResources('every', 'AWS::Backup::BackupVault');
    // A vault outlives its stack. The next stack of the same name has another id, so its deployment succeeds.
    expect(JSON.stringify(vault?.Properties.BackupVaultName)).toMatch(
      /^{"Fn::Join":\["-",\["Claimcheck-production",.*"AWS::StackId".*\]\]}$/,
    );
  });

  it('moves weekly and monthly backups to cold storage, and copies them to the vault of the option', () => {
    const lifecycle = (DeleteAfterDays: number) => ({ DeleteAfterDays, MoveToColdStorageAfterDays: 1 });
    const listRules = (id: 'every' | 'stateful') =>
      listIn(stacks[id].joined, 'AWS::Backup::BackupPlan')[0]?.Properties.BackupPlan.BackupPlanRule;
    const copy = (days: number) => ({
      DestinationBackupVaultArn: everyOption.backupCopyVaultArn,
      Lifecycle: lifecycle(days),
    });
    expect(listRules('every')).toMatchObject([
      { ScheduleExpression: 'cron(0 3 ? * SUN *)', Lifecycle: lifecycle(91), CopyActions: [copy(91)] },
      { ScheduleExpression: 'cron(0 4 1 * ? *)', Lifecycle: lifecycle(365), CopyActions: [copy(365)] },
    ]);
    for (const rule of listRules('stateful')) expect(rule.CopyActions).toBeUndefined();
  });

  it('replicates the master key that it creates to the region of the option', () => {
    const replicas = (['none', 'everyWithoutAdoption'] as const).map(
      (id) => listResources(id, 'AWS::SecretsManager::Secret')[0]?.Properties.ReplicaRegions,
    );
    expect(replicas).toEqual([undefined, [{ Region: everyOption.masterKeyReplicaRegion }]]);
  });

  it('deletes a retained resource if its first creation fails, so that the deployment can be repeated', () => {
    const resources = Object.values(stacks.everyWithoutAdoption.joined.Resources);
    // The CloudWatch role of API Gateway is one of the whole region.
    const isShared = (type: string) => ['AWS::IAM::Role', 'AWS::ApiGateway::Account'].includes(type);
    const retained = resources.filter(
      ({ Type, DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete' && !isShared(Type),
    );
    expect(new Set(retained.map(({ DeletionPolicy }) => DeletionPolicy))).toEqual(new Set(['RetainExceptOnCreate']));
    expect(new Set(retained.map(({ UpdateReplacePolicy }) => UpdateReplacePolicy))).toEqual(new Set(['Retain']));
    expect(retained.map(({ Type }) => Type)).toEqual(
      expect.arrayContaining(['AWS::DynamoDB::Table', 'AWS::Backup::BackupVault', 'AWS::SecretsManager::Secret']),
    );
  });

  it('calls the public URL each minute without repetitions, and starts an alarm without successful calls', () => {
    const find = (type: string) => listResources('every', type);
    expect(find('AWS::Events::ApiDestination').map(({ Properties }) => Properties)).toMatchObject([
      { InvocationEndpoint: 'https://purchases.example.com/claimcheck/.well-known/jwks.json', HttpMethod: 'GET' },
    ]);
    const rules = Object.entries(findResources('every', 'AWS::Events::Rule'));
    const [id, rule] = rules.find(([key]) => key.startsWith('SyntheticCheck')) ?? [];
    expect(rule?.Properties).toMatchObject({
      ScheduleExpression: 'rate(1 minute)',
      Targets: [{ RetryPolicy: { MaximumRetryAttempts: 0 } }],
    });
    const alarm = find('AWS::CloudWatch::Alarm').find(({ Properties }) =>
      String(Properties.AlarmDescription).startsWith('The public URL'),
    );
    expect(alarm?.Properties).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 3,
      EvaluationPeriods: 2,
      TreatMissingData: 'breaching',
    });
    const names = alarm?.Properties.Metrics.flatMap(
      ({ MetricStat }: { MetricStat?: { Metric: { Dimensions: { Value: unknown }[] } } }) =>
        MetricStat?.Metric.Dimensions.map(({ Value }) => Value) ?? [],
    );
    expect(names).toEqual([{ Ref: id }, { Ref: id }]);
    expect(listResources('none', 'AWS::Events::ApiDestination')).toEqual([]);
  });

  it.each(['none', 'every'] as const)('throttles validations below the stage: %s', (id) => {
    const [stage] = listResources(id, 'AWS::ApiGateway::Stage');
    const [all, ...methods] = stage?.Properties.MethodSettings ?? [];
    const { stageRequestsPerSecond, validationRequestsPerSecond } = getLimits(
      id === 'every' ? readOptions(everyOption) : {},
    );
    expect(all).toMatchObject({ ResourcePath: '/*', HttpMethod: '*', ThrottlingRateLimit: stageRequestsPerSecond });
    expect(methods[0]?.ThrottlingRateLimit).toBe(validationRequestsPerSecond);
    expect(methods.map(({ ResourcePath }: Json) => ResourcePath.replaceAll('~1', '/').slice(1)).sort()).toEqual(
      [validateReceipt.path, ...validateReceipt.aliases, verifyPurchase.path].sort(),
    );
    for (const limit of ['ThrottlingRateLimit', 'ThrottlingBurstLimit']) {
      const sum = methods.reduce((total: number, method: Json) => total + method[limit], 0);
      expect(sum).toBeLessThan(all[limit]);
    }
  });

  it('limits the requests of a key of apps without their own limit', () => {
    const read = (id: 'none' | 'every') => listVariables(id, 'REQUESTS_PER_KEY');
    expect(new Set(read('none'))).toEqual(new Set([undefined]));
    expect(new Set(read('every'))).toEqual(new Set([everyOption.requestsPerKey]));
    expect(stacks.every.joined.Outputs?.RequestsPerKey?.Value).toBe(everyOption.requestsPerKey);
  });

  it('gives the aggregator the number of parts of a counter, only if the option is set', () => {
    const list = (id: 'none' | 'every') => listVariables(id, 'COUNTER_PARTS').filter((value) => value !== undefined);
    expect(list('none')).toEqual([]);
    expect(list('every')).toEqual([everyOption.counterParts]);
  });

  it('gives each function the receiver of spans and the permission to write them, only if the option is set', () => {
    const countPolicies = (id: 'none' | 'every') =>
      listResources(id, 'AWS::IAM::Role').filter((role) => JSON.stringify(role).includes('xray:PutTraceSegments'))
        .length;
    expect(new Set(listVariables('none', 'OTLP_TRACES_URL'))).toEqual(new Set([undefined]));
    expect(new Set(listVariables('every', 'OTLP_TRACES_URL'))).toEqual(new Set([everyOption.otlpTracesUrl]));
    expect([countPolicies('none'), countPolicies('every')]).toEqual([
      0,
      listVariables('every', 'OTLP_TRACES_URL').length,
    ]);
  });

  it('sets the limits that the documents name', () => {
    const guide = readDocument('docs/guides/run-for-production.md');
    const { requestsPerKey, validationRequestsPerSecond, stageRequestsPerSecond, maxConcurrency } = defaultLimits;
    for (const [limit, value] of [
      ['Requests of one key', requestsPerKey],
      ['Validations', validationRequestsPerSecond],
      ['Requests of the stage', stageRequestsPerSecond],
      ['Workers', maxConcurrency],
    ] as const)
      expect(guide).toContain(`- ${limit}: ${value.toLocaleString('en-US')} `);
    const warmed = guide.matchAll(/IndexName=(\w+),WarmThroughput/g);
    expect([...warmed].map(([, name]) => name).sort()).toEqual(Object.keys(indexes).sort());
  });

  it('serves a custom domain under a base path and outputs its DNS target', () => {
    const { joined } = stacks.every;
    expect(listProperties(joined, 'AWS::ApiGateway::DomainName')).toEqual([
      expect.objectContaining({
        DomainName: everyOption.domainName,
        RegionalCertificateArn: everyOption.certificateArn,
        SecurityPolicy: 'TLS_1_2',
      }),
    ]);
    expect(listProperties(joined, 'AWS::ApiGateway::BasePathMapping')).toMatchObject([{ BasePath: 'claimcheck' }]);
    expect(joined.Outputs?.ApiUrl?.Value).toBe('https://purchases.example.com/claimcheck');
    expect(joined.Outputs?.DomainTarget?.Value).toBeDefined();
    expect(listResources('none', 'AWS::ApiGateway::DomainName')).toEqual([]);
  });

  it('retains the API, because released clients contain its URL', () => {
    expect(listResources('none', 'AWS::ApiGateway::RestApi')).toMatchObject([
      { DeletionPolicy: 'RetainExceptOnCreate' },
    ]);
  });

  it('adopts an existing table, its stream and its master key', () => {
    expect(listResources('every', 'AWS::DynamoDB::Table')).toEqual([]);
    expect(listResources('every', 'AWS::SecretsManager::Secret')).toEqual([]);
    const functions = listResources('every', 'AWS::Lambda::Function').filter(
      ({ Properties }) => Properties.Handler !== 'get-console.handler',
    );
    const variables = functions.flatMap(({ Properties }) => Properties.Environment?.Variables ?? []);
    expect(variables.length).toBeGreaterThan(30);
    for (const { TABLE_NAME, MASTER_KEY_ID } of variables)
      expect([TABLE_NAME, MASTER_KEY_ID]).toEqual([everyOption.tableName, everyOption.masterKeyArn]);
    const streams = listResources('every', 'AWS::Lambda::EventSourceMapping').filter(
      ({ Properties }) => Properties.StartingPosition,
    );
    expect(streams).toHaveLength(2);
    for (const { Properties } of streams)
      expect(Properties.EventSourceArn).toEqual({ 'Fn::GetAtt': [expect.any(String), 'Table.LatestStreamArn'] });
    const roles = JSON.stringify(listResources('every', 'AWS::IAM::Role'));
    expect(roles).toContain(`table/${everyOption.tableName}/index/byKey`);
  });

  it('retains the table and the master key when an update adopts others, and refers to the adopted ones only', () => {
    const { tableName, masterKeyArn } = everyOption;
    const { Resources: before } = stacks.everyWithoutAdoption.joined;
    const { joined: adopted } = stacks.every;
    // A version is replaced with every change of its function.
    const removed = Object.entries(before).filter(
      ([id, { Type }]) => Type !== 'AWS::Lambda::Version' && !(id in adopted.Resources),
    );
    expect(removed.map(([, { Type, DeletionPolicy }]) => [Type, DeletionPolicy]).sort()).toEqual([
      ['AWS::DynamoDB::Table', 'RetainExceptOnCreate'],
      ['AWS::SecretsManager::Secret', 'RetainExceptOnCreate'],
    ]);
    for (const [id] of removed) expect(JSON.stringify(adopted)).not.toContain(`"${id}"`);
    for (const type of ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::Backup::BackupSelection'])
      expect(JSON.stringify(listResources('every', type))).toContain(tableName);
    expect(adopted.Outputs?.TableName?.Value).toBe(tableName);
    expect(adopted.Outputs?.MasterKeyId?.Value).toBe(masterKeyArn);
  });

  it('gives the backup selection of an adopted table another name, because an update replaces the selection', () => {
    const names = (['everyWithoutAdoption', 'every'] as const).map(
      (id) => listResources(id, 'AWS::Backup::BackupSelection')[0]?.Properties.BackupSelection.SelectionName,
    );
    expect(new Set(names).size).toBe(2);
  });

  it('leaves the stage as it is when it adopts a table, so the runbook of a restore resets the rate of the stage', () => {
    const [stage] = listResources('every', 'AWS::ApiGateway::Stage');
    expect(stage).toEqual(listResources('everyWithoutAdoption', 'AWS::ApiGateway::Stage')[0]);
    const [withoutOptions] = listResources('none', 'AWS::ApiGateway::Stage');
    const settings: readonly Json[] = withoutOptions?.Properties.MethodSettings ?? [];
    expect(settings.length).toBeGreaterThan(1);
    for (const { ResourcePath, HttpMethod, ThrottlingRateLimit } of settings)
      expect(readDocument('docs/operating/restore.md')).toContain(
        `path=${ResourcePath}/${HttpMethod}/throttling/rateLimit,value=${ThrottlingRateLimit}'`,
      );
  });

  it('links a runbook for each alarm, with its start, impact and action', () => {
    const file = 'docs/guides/runbooks.md';
    const headings = listHeadings(readDocument(file)).filter(({ level }) => level === 3);
    const names = headings.flatMap(({ title }) => [...title.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const patterns = names.map(
      (name) =>
        new RegExp(`^(?:MonitoringAlarms|SyntheticCheck)${name.replaceAll('-', '').replace('…', '\\w+')}[0-9A-F]{8}$`),
    );
    const alarms = Object.keys(findResources('every', 'AWS::CloudWatch::Alarm'));
    expect(alarms.filter((alarm) => !patterns.some((pattern) => pattern.test(alarm)))).toEqual([]);
    expect(names.filter((_name, index) => !alarms.some((alarm) => patterns[index]?.test(alarm)))).toEqual([]);
    const parts = /^\n\*\*Starts:\*\* (?:.+\n)+\n\*\*Impact:\*\* (?:.+\n)+\n1\. /;
    for (const { title } of headings) expect(readSection(file, title)).toMatch(parts);
  });

  it('subscribes the operator to the alarms, which also report their end', () => {
    expect(listProperties(stacks.every.joined, 'AWS::SNS::Subscription')).toMatchObject([
      { Protocol: 'email', Endpoint: everyOption.alarmEmail },
      { Protocol: 'email', Endpoint: everyOption.pageEmail },
    ]);
    for (const { Properties } of listResources('none', 'AWS::CloudWatch::Alarm'))
      expect(Properties.OKActions).toEqual(Properties.AlarmActions);
  });

  it('limits the instances of the queue workers to the option', () => {
    const scaling = (id: keyof typeof stacks) =>
      listResources(id, 'AWS::Lambda::EventSourceMapping').flatMap(
        ({ Properties }) => Properties.ScalingConfig?.MaximumConcurrency ?? [],
      );
    expect(scaling('none')).toEqual([50, 50, 50, 50]);
    expect(scaling('every')).toEqual([5, 5, 5, 5]);
  });

  it('protects the stage with a web ACL that accepts receipts and stores no request', () => {
    expect(listResources('every', 'AWS::WAFv2::WebACLAssociation')).toHaveLength(1);
    const [webAcl] = listResources('every', 'AWS::WAFv2::WebACL');
    const { Rules, VisibilityConfig } = webAcl?.Properties ?? {};
    expect(Rules.map(({ Name }: { Name: string }) => Name)).toEqual([
      'rate-per-address',
      'rate-per-key-in-header',
      'rate-per-key-in-query',
      'core-rules',
    ]);
    expect(JSON.stringify(Rules)).toContain('"Name":"SizeRestrictions_BODY"');
    expect([VisibilityConfig, ...Rules.map((rule: typeof webAcl) => rule?.VisibilityConfig)]).toEqual(
      Array.from({ length: 5 }, () => expect.objectContaining({ SampledRequestsEnabled: false })),
    );
    expect(listResources('none', 'AWS::WAFv2::WebACL')).toEqual([]);
  });

  it('limits the requests of an address and of a key, without store notifications, readable by browsers', () => {
    const [webAcl] = listResources('every', 'AWS::WAFv2::WebACL');
    const rateRules = ((webAcl?.Properties.Rules ?? []) as Json[]).filter(
      ({ Statement }) => Statement.RateBasedStatement,
    );
    const statements = rateRules.map(({ Statement }) => Statement.RateBasedStatement);
    expect(statements.map(({ Limit }) => Limit)).toEqual([3_000, 9_000, 9_000]);
    for (const { ScopeDownStatement } of statements)
      expect(ScopeDownStatement.NotStatement.Statement.ByteMatchStatement).toMatchObject({ SearchString: '/webhook/' });
    for (const { paths } of notificationEndpoints)
      for (const path of paths) expect(`/live${path}/`).toContain('/webhook/');
    for (const { Action } of rateRules) {
      const { ResponseCode, ResponseHeaders, CustomResponseBodyKey } = Action.Block.CustomResponse;
      expect(ResponseCode).toBe(429);
      expect(ResponseHeaders).toContainEqual({ Name: 'Access-Control-Allow-Origin', Value: '*' });
      expect(ResponseHeaders).toContainEqual({ Name: 'Retry-After', Value: expect.any(String) });
      const { Content } = webAcl?.Properties.CustomResponseBodies[CustomResponseBodyKey] ?? {};
      expect(v.is(ErrorBody, JSON.parse(Content))).toBe(true);
    }
  });

  it('backs the table up by a plan and reports a budget, only if the options are set', () => {
    for (const type of ['AWS::Backup::BackupPlan', 'AWS::Budgets::Budget']) {
      expect(listResources('every', type)).toHaveLength(1);
      expect(listResources('none', type)).toEqual([]);
    }
  });

  describe('with gradual releases', () => {
    const isAlias = (value: unknown) => /Release\w+live/.test(JSON.stringify(value));

    it('shifts every function to a new version by an alias with its own deployment group', () => {
      const functions = listResources('canary', 'AWS::Lambda::Function').length;
      expect(listResources('canary', 'AWS::Lambda::Version')).toHaveLength(functions);
      expect(listResources('canary', 'AWS::CodeDeploy::Application')).toHaveLength(1);
      const groups = Object.keys(findResources('canary', 'AWS::CodeDeploy::DeploymentGroup'));
      // CodeDeploy runs one deployment of a group at a time.
      const shifted = listResources('canary', 'AWS::Lambda::Alias').map(
        ({ UpdatePolicy }) => UpdatePolicy?.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
      );
      expect(shifted).toHaveLength(functions);
      expect(shifted.sort()).toEqual(groups.sort());
      const versions = listResources('canary', 'AWS::Lambda::Alias').map(({ Properties }) => {
        const { FunctionName, FunctionVersion } = Properties;
        // arn:aws:lambda:<region>:<account>:function:<name>:<version>
        const [
          index,
          {
            'Fn::Split': [separator, arn],
          },
        ] = FunctionVersion['Fn::Select'];
        expect([index, separator]).toEqual([7, ':']);
        expect(FunctionName).toEqual({ 'Fn::Select': [6, { 'Fn::Split': [':', arn] }] });
        return arn.Ref;
      });
      expect(versions.sort()).toEqual(Object.keys(findResources('canary', 'AWS::Lambda::Version')).sort());
    });

    it('creates deployment groups in chains, at most five at a time, and each alias after its group', () => {
      const release = stacks.canary.nested.Release ?? { Resources: {} };
      const groups = Object.entries(findIn(release, 'AWS::CodeDeploy::DeploymentGroup'));
      const aliases = Object.entries(findIn(release, 'AWS::Lambda::Alias'));
      expect(groups.length).toBeGreaterThan(50);
      const dependencies = new Map([...groups, ...aliases].map(([id, { DependsOn = [] }]) => [id, [DependsOn].flat()]));
      const created = new Set<string>();
      const batches: number[] = [];
      while (created.size < groups.length) {
        const ready = groups
          .map(([id]) => id)
          .filter((id) => !created.has(id) && dependencies.get(id)?.every((dependency) => created.has(dependency)));
        batches.push(ready.length);
        for (const id of ready) created.add(id);
      }
      expect(Math.max(...batches)).toBe(5);
      expect(batches).toHaveLength(Math.ceil(groups.length / 5));
      for (const [id, { UpdatePolicy }] of aliases)
        expect(dependencies.get(id)).toEqual([UpdatePolicy.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref]);
    });

    it('invokes only aliases: by methods, event sources, schedules and permissions', () => {
      const [api] = listResources('canary', 'AWS::ApiGateway::RestApi');
      const integrations = Object.values(api?.Properties.Body.paths as Record<string, object>)
        .flatMap((path) => Object.values(path))
        .map((operation) => operation['x-amazon-apigateway-integration'])
        .filter(({ type }) => type === 'aws_proxy');
      expect(integrations.length).toBeGreaterThan(30);
      for (const { uri } of integrations) expect(isAlias(uri)).toBe(true);
      const sources = listResources('canary', 'AWS::Lambda::EventSourceMapping');
      const permissions = listResources('canary', 'AWS::Lambda::Permission');
      expect(sources).toHaveLength(workers.filter(({ source }) => !('everyMinutes' in source)).length);
      for (const { Properties } of [...sources, ...permissions]) expect(isAlias(Properties.FunctionName)).toBe(true);
      for (const { Properties } of listResources('canary', 'AWS::Events::Rule'))
        expect(isAlias(Properties.Targets[0].Arn)).toBe(true);
      for (const { Properties } of listResources('canary', 'AWS::Lambda::EventInvokeConfig'))
        expect(Properties.Qualifier).not.toBe('$LATEST');
    });

    it('grants the invocation of the aliases before the stage invokes them', () => {
      const [api] = listIn(stacks.canary.root, 'AWS::ApiGateway::RestApi');
      const integrations = Object.values(api?.Properties.Body.paths as Record<string, object>)
        .flatMap((path) => Object.values(path))
        .map((operation) => operation['x-amazon-apigateway-integration'])
        .filter(({ credentials }) => credentials);
      expect(integrations.length).toBeGreaterThan(30);
      // The value of an output exists after all resources of its stack, here a role with its inline policy.
      for (const { credentials } of integrations) {
        const [stackId, output] = credentials['Fn::GetAtt'];
        const { Resources, Outputs = {} } = stacks.canary.nested[stackId] ?? { Resources: {} };
        const { Value } = Outputs[output.replace('Outputs.', '')] as { Value: { 'Fn::GetAtt': [string, 'Arn'] } };
        const role = Resources[Value['Fn::GetAtt'][0]];
        const statements = (role?.Properties.Policies ?? []).flatMap(
          ({ PolicyDocument }: Json) => PolicyDocument.Statement,
        );
        expect(statements).toHaveLength(1);
        for (const arn of [statements[0].Resource].flat())
          expect(arn).toEqual({ 'Fn::Join': ['', [{ 'Fn::GetAtt': [expect.any(String), 'Arn'] }, ':live']] });
      }
      for (const { Properties } of listResources('canary', 'AWS::Lambda::Alias')) expect(Properties.Name).toBe('live');
    });

    it('keeps the mappings of event sources, because a new mapping reads a stream from its start', () => {
      const listIds = (id: keyof typeof stacks) =>
        Object.keys(findIn(stacks[id].root, 'AWS::Lambda::EventSourceMapping')).sort();
      expect(listIds('canary')).toEqual(listIds('none'));
      expect(listResources('canary', 'AWS::Lambda::Alias').length).toBeGreaterThan(0);
    });

    it('rolls every function back by alarms that report its failures', () => {
      const alarms = Object.keys(findResources('canary', 'AWS::CloudWatch::Alarm'));
      for (const { Properties } of listResources('canary', 'AWS::CodeDeploy::DeploymentGroup')) {
        expect(Properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent10Minutes');
        expect(Properties.AlarmConfiguration.Enabled).toBe(true);
        const names = Properties.AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref);
        expect(names.length).toBeGreaterThan(0);
        expect(alarms).toEqual(expect.arrayContaining(names));
        expect(Properties.AutoRollbackConfiguration).toEqual({
          Enabled: true,
          Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'],
        });
      }
      const groups = findResources('canary', 'AWS::CodeDeploy::DeploymentGroup');
      for (const { id } of workers) {
        const group = groups[`Release${id.replaceAll('-', '')}`];
        const [alarm] = group?.Properties.AlarmConfiguration.Alarms ?? [];
        expect(JSON.stringify(findResources('canary', 'AWS::CloudWatch::Alarm')[alarm?.Name.Ref])).toContain(
          `Workers${id.replaceAll('-', '')}Function`,
        );
      }
    });

    it('reports a failure of a release within half of its shift', () => {
      const groups = listResources('canary', 'AWS::CodeDeploy::DeploymentGroup');
      const names = groups.flatMap(({ Properties }) => Properties.AlarmConfiguration.Alarms);
      const alarms = findResources('canary', 'AWS::CloudWatch::Alarm');
      expect(names.length).toBeGreaterThan(40);
      for (const { Name } of names) {
        const { Period, Metrics = [], EvaluationPeriods } = alarms[Name.Ref]?.Properties ?? {};
        const seconds =
          Period ?? Metrics.find(({ MetricStat }: { MetricStat?: object }) => MetricStat).MetricStat.Period;
        expect(seconds * EvaluationPeriods).toBeLessThanOrEqual(300);
      }
    });

    it('shifts immediately and without alarms for a rollback or an urgent release', () => {
      const groups = listResources('immediate', 'AWS::CodeDeploy::DeploymentGroup');
      expect(groups.length).toBeGreaterThan(40);
      for (const { Properties } of groups) {
        expect(Properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce');
        expect(Properties.AlarmConfiguration.Enabled).toBe(false);
      }
    });

    it('creates no versions without the option', () => {
      expect(readOptions({ canary: 'false' })).toEqual(readOptions({}));
      for (const type of ['AWS::Lambda::Version', 'AWS::Lambda::Alias', 'AWS::CodeDeploy::DeploymentGroup'])
        expect(listResources('none', type)).toEqual([]);
    });
  });

  it('records no URL: neither traces nor execution logs nor per-method metrics of the stage', () => {
    const [stage] = listResources('none', 'AWS::ApiGateway::Stage');
    const { TracingEnabled = false, MethodSettings = [], AccessLogSetting } = stage?.Properties ?? {};
    expect(TracingEnabled).toBe(false);
    for (const { LoggingLevel = 'OFF', DataTraceEnabled = false, MetricsEnabled = false } of MethodSettings)
      expect([LoggingLevel, DataTraceEnabled, MetricsEnabled]).toEqual(['OFF', false, false]);
    expect(AccessLogSetting.Format).not.toMatch(/context\.(path|domainName|protocol)|querystring|header/i);
    for (const { Properties } of listResources('none', 'AWS::Lambda::Function'))
      expect(Properties.TracingConfig).toBeUndefined();
  });

  it('logs the error, status and latency of the integration', () => {
    const [stage] = listResources('none', 'AWS::ApiGateway::Stage');
    const format = JSON.parse(stage?.Properties.AccessLogSetting.Format) as Record<string, string>;
    expect(Object.values(format)).toEqual(
      expect.arrayContaining([
        '$context.integrationErrorMessage',
        '$context.integration.status',
        '$context.integration.latency',
      ]),
    );
  });

  it('allows recursion for the workers that send to their own queue, and raises an alarm for dropped messages', () => {
    const recursive = workers.filter(sendsToOwnQueue).map(({ id }) => `${id}.handler`);
    expect(recursive).toEqual(['process-notification.handler', 'send-webhook.handler', 'send-forward.handler']);
    for (const { Properties } of listResources('none', 'AWS::Lambda::Function'))
      expect(Properties.RecursiveLoop).toBe(recursive.includes(Properties.Handler) ? 'Allow' : undefined);
    expect(JSON.stringify(listResources('none', 'AWS::CloudWatch::Alarm'))).toContain('RecursiveInvocationsDropped');
  });

  it('drops a scheduled run that waits longer than its schedule', () => {
    for (const { Properties } of listResources('none', 'AWS::Events::Rule')) {
      const [target] = Properties.Targets as { RetryPolicy: { MaximumEventAgeInSeconds: number } }[];
      const [, count, unit = ''] = /rate\((\d+) (minute|hour)/.exec(Properties.ScheduleExpression) ?? [];
      const seconds = Number(count) * (unit === 'hour' ? 3_600 : 60);
      expect(target?.RetryPolicy.MaximumEventAgeInSeconds).toBe(seconds);
    }
  });

  it.each(['Latency', 'StageThrottles', 'AccountThrottles', 'DroppedRecursion', 'webhooksgivenup'])(
    'creates the alarm %s',
    (id) => {
      const ids = Object.keys(findResources('none', 'AWS::CloudWatch::Alarm'));
      expect(ids.some((alarm) => alarm.startsWith(`MonitoringAlarms${id}`))).toBe(true);
    },
  );

  it('shows queues, dead letters, streams, webhooks and stores on the dashboard', () => {
    const body = JSON.stringify(listResources('none', 'AWS::CloudWatch::Dashboard'));
    for (const metric of ['ApproximateAgeOfOldestMessage', 'ApproximateNumberOfMessagesVisible', 'IteratorAge'])
      expect(body).toContain(metric);
    for (const title of ['Webhooks', 'Stores']) expect(body).toContain(title);
  });
});
