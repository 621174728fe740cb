import { describe, expect, it } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readDeploymentOptions } from '../../infra/deployment-options.ts';
import { sendsToOwnQueue, workers } from '../../infra/workers.ts';
import { listHeadings, readDocument, readSection } from '../../testing/documents.ts';
import { createStack, everyOption } from './stack-fixture.ts';

const cache = new Map<string, Template>();
const getTemplate = (options: Readonly<Record<string, string>>): Template => {
  const key = JSON.stringify(options);
  const template = cache.get(key) ?? Template.fromStack(createStack(options).stack);
  cache.set(key, template);
  return template;
};
const noOptions = {};

// biome-ignore lint/suspicious/noExplicitAny: the test reads resources of every shape.
type Json = Readonly<Record<string, any>>;

const listResources = (options: Readonly<Record<string, string>>, type: string) =>
  Object.values(getTemplate(options).findResources(type));

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
    [{ eventRetentionDays: 'x' }, 'eventRetentionDays'],
    [{ eventRetentionDays: '0' }, 'eventRetentionDays'],
    [{ alarmEmial: 'ops@example.com', stage: 'production' }, 'unknown names: alarmEmial. The names are: stage, '],
  ])('rejects %j and names %s', (options, name) => {
    expect(() => readDeploymentOptions(new App({ context: options }).node)).toThrow(name);
  });

  it('accepts the settings of the CDK', () => {
    const context = {
      '@aws-cdk/core:stackRelativeExports': true,
      'cli-telemetry': false,
      'acknowledged-issue-numbers': [1],
    };
    expect(readDeploymentOptions(new App({ context }).node)).toEqual({});
  });
});

describe('ServiceStack with deployment options', () => {
  it("passes cdk-nag's AWS Solutions rules and stays below 500 resources with every option", () => {
    const { app, stack } = createStack(everyOption);
    Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    expect(() => app.synth()).not.toThrow();
    const { Resources } = Template.fromStack(stack).toJSON() as { Resources: object };
    expect(Object.keys(Resources).length).toBeLessThan(500);
  });

  it('derives stack name, tag and termination protection from its stage', () => {
    expect(createStack({}).stack.stackName).toBe('Claimcheck');
    expect(createStack({}).stack.terminationProtection).toBe(false);
    expect(createStack({ stage: 'staging' }).stack.stackName).toBe('Claimcheck-staging');
    expect(createStack({ stage: 'staging' }).stack.terminationProtection).toBe(false);
    const { stack } = createStack({ stage: 'production' });
    expect([stack.stackName, stack.terminationProtection]).toEqual(['Claimcheck-production', true]);
    Template.fromStack(stack).allResourcesProperties('AWS::SQS::Queue', {
      Tags: Match.arrayWith([{ Key: 'claimcheck:stage', Value: 'production' }]),
    });
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
      const resources = listResources(noOptions, type);
      expect(resources.length).toBeGreaterThan(0);
      for (const { Properties = {} } of resources) expect(Properties[property]).toBeUndefined();
    }
    for (const { Properties } of listResources(noOptions, 'AWS::Logs::MetricFilter'))
      expect(Properties.MetricTransformations[0].MetricNamespace).toBe('Claimcheck/Claimcheck');
  });

  it('serves a custom domain under a base path and outputs its DNS target', () => {
    const template = getTemplate(everyOption);
    template.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: everyOption.domainName,
      RegionalCertificateArn: everyOption.certificateArn,
      SecurityPolicy: 'TLS_1_2',
    });
    template.hasResourceProperties('AWS::ApiGateway::BasePathMapping', { BasePath: 'claimcheck' });
    template.hasOutput('ApiUrl', { Value: 'https://purchases.example.com/claimcheck' });
    template.hasOutput('DomainTarget', Match.anyValue());
    getTemplate(noOptions).resourceCountIs('AWS::ApiGateway::DomainName', 0);
  });

  it('retains the API, because released clients contain its URL', () => {
    getTemplate(noOptions).hasResource('AWS::ApiGateway::RestApi', { DeletionPolicy: 'Retain' });
  });

  it('adopts an existing table, its stream and its master key', () => {
    const template = getTemplate(everyOption);
    template.resourceCountIs('AWS::DynamoDB::Table', 0);
    template.resourceCountIs('AWS::SecretsManager::Secret', 0);
    const functions = listResources(everyOption, 'AWS::Lambda::Function').filter(
      ({ Properties }) => Properties.Handler !== 'get-console.handler',
    );
    const variables = functions.flatMap(({ Properties }) => Properties.Environment?.Variables ?? []);
    expect(variables.length).toBeGreaterThan(30);
    for (const { TABLE_NAME, MASTER_KEY_ID } of variables)
      expect([TABLE_NAME, MASTER_KEY_ID]).toEqual([everyOption.tableName, everyOption.masterKeyArn]);
    const streams = listResources(everyOption, 'AWS::Lambda::EventSourceMapping').filter(
      ({ Properties }) => Properties.StartingPosition,
    );
    expect(streams).toHaveLength(2);
    for (const { Properties } of streams)
      expect(Properties.EventSourceArn).toEqual({ 'Fn::GetAtt': [expect.any(String), 'Table.LatestStreamArn'] });
    const roles = JSON.stringify(listResources(everyOption, 'AWS::IAM::Role'));
    expect(roles).toContain(`table/${everyOption.tableName}/index/byKey`);
  });

  it('retains the table and the master key when an update adopts others, and refers to the adopted ones only', () => {
    const { tableName, masterKeyArn, ...created } = everyOption;
    const before = getTemplate(created).toJSON().Resources as Record<string, Json>;
    const adopted = getTemplate(everyOption).toJSON() as { Resources: Record<string, Json>; Outputs: Json };
    // A version is replaced with every change of its function.
    const removed = Object.entries(before).filter(
      ([id, { Type }]) => Type !== 'AWS::Lambda::Version' && !(id in adopted.Resources),
    );
    expect(removed.map(([, { Type, DeletionPolicy }]) => [Type, DeletionPolicy]).sort()).toEqual([
      ['AWS::DynamoDB::Table', 'Retain'],
      ['AWS::SecretsManager::Secret', 'Retain'],
    ]);
    for (const [id] of removed) expect(JSON.stringify(adopted)).not.toContain(`"${id}"`);
    for (const type of ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::Backup::BackupSelection'])
      expect(JSON.stringify(listResources(everyOption, type))).toContain(tableName);
    expect(adopted.Outputs.TableName.Value).toBe(tableName);
    expect(adopted.Outputs.MasterKeyId.Value).toBe(masterKeyArn);
  });

  it('gives the backup selection of an adopted table another name, because an update replaces the selection', () => {
    const { tableName: _table, masterKeyArn: _key, ...created } = everyOption;
    const names = [created, everyOption].map(
      (options) => listResources(options, 'AWS::Backup::BackupSelection')[0]?.Properties.BackupSelection.SelectionName,
    );
    expect(new Set(names).size).toBe(2);
  });

  it('leaves the stage as it is when it adopts a table, so the runbook of a restore resets the rate of the stage', () => {
    const { tableName: _table, masterKeyArn: _key, ...created } = everyOption;
    const [stage] = listResources(everyOption, 'AWS::ApiGateway::Stage');
    expect(stage).toEqual(listResources(created, 'AWS::ApiGateway::Stage')[0]);
    const [settings] = stage?.Properties.MethodSettings ?? [];
    expect(readDocument('docs/operating/restore.md')).toContain(
      `path=/*/*/throttling/rateLimit,value=${settings.ThrottlingRateLimit}'`,
    );
  });

  it('has a runbook for each alarm, with symptom, impact and action', () => {
    const file = 'docs/guides/runbooks.md';
    const headings = listHeadings(readDocument(file)).filter(({ level }) => level === 3);
    const names = headings.flatMap(({ title }) => [...title.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
    const patterns = names.map(
      (name) => new RegExp(`^Alarms${name.replaceAll('-', '').replace('…', '\\w+')}[0-9A-F]{8}$`),
    );
    const alarms = Object.keys(getTemplate(everyOption).findResources('AWS::CloudWatch::Alarm'));
    expect(alarms.filter((alarm) => !patterns.some((pattern) => pattern.test(alarm)))).toEqual([]);
    expect(names.filter((_name, index) => !alarms.some((alarm) => patterns[index]?.test(alarm)))).toEqual([]);
    const parts = /^\n\*\*Starts:\*\* .+\n\n\*\*Symptom:\*\* .+\n\n\*\*Impact:\*\* .+\n\n\*\*Action:\*\*\n\n1\. /;
    for (const { title } of headings) expect(readSection(file, title)).toMatch(parts);
  });

  it('subscribes the operator to the alarms, which also report their end', () => {
    getTemplate(everyOption).hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: everyOption.alarmEmail,
    });
    for (const { Properties } of listResources(noOptions, 'AWS::CloudWatch::Alarm'))
      expect(Properties.OKActions).toEqual(Properties.AlarmActions);
  });

  it('limits the instances of the queue workers to the option', () => {
    const scaling = (options: Record<string, string>) =>
      listResources(options, 'AWS::Lambda::EventSourceMapping').flatMap(
        ({ Properties }) => Properties.ScalingConfig?.MaximumConcurrency ?? [],
      );
    expect(scaling(noOptions)).toEqual([50, 50, 50]);
    expect(scaling(everyOption)).toEqual([5, 5, 5]);
  });

  it('protects the stage with a web ACL that accepts receipts and stores no request', () => {
    const template = getTemplate(everyOption);
    template.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
    const [webAcl] = listResources(everyOption, 'AWS::WAFv2::WebACL');
    const { Rules, VisibilityConfig } = webAcl?.Properties ?? {};
    expect(Rules.map(({ Name }: { Name: string }) => Name)).toEqual(['rate-per-address', 'core-rules']);
    expect(JSON.stringify(Rules)).toContain('"Name":"SizeRestrictions_BODY"');
    expect([VisibilityConfig, ...Rules.map((rule: typeof webAcl) => rule?.VisibilityConfig)]).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ SampledRequestsEnabled: false })),
    );
    getTemplate(noOptions).resourceCountIs('AWS::WAFv2::WebACL', 0);
  });

  it('backs the table up by a plan and reports a budget, only if the options are set', () => {
    for (const type of ['AWS::Backup::BackupPlan', 'AWS::Budgets::Budget']) {
      getTemplate(everyOption).resourceCountIs(type, 1);
      getTemplate(noOptions).resourceCountIs(type, 0);
    }
  });

  describe('with gradual releases', () => {
    const canary = { canary: 'true' };
    const isAlias = (value: unknown) => /Live[0-9A-F]{8}/.test(JSON.stringify(value));

    it('shifts every function to a new version by an alias with a deployment group of its own', () => {
      const template = getTemplate(canary);
      const functions = listResources(canary, 'AWS::Lambda::Function').length;
      template.resourceCountIs('AWS::Lambda::Version', functions);
      template.resourceCountIs('AWS::CodeDeploy::Application', 1);
      const groups = Object.keys(template.findResources('AWS::CodeDeploy::DeploymentGroup'));
      // CodeDeploy runs one deployment of a group at a time.
      const shifted = listResources(canary, 'AWS::Lambda::Alias').map(
        ({ UpdatePolicy }) => UpdatePolicy?.CodeDeployLambdaAliasUpdate.DeploymentGroupName.Ref,
      );
      expect(shifted).toHaveLength(functions);
      expect(shifted.sort()).toEqual(groups.sort());
      for (const { Properties } of listResources(canary, 'AWS::Lambda::Alias'))
        expect(Properties.FunctionVersion).toEqual({ 'Fn::GetAtt': [expect.any(String), 'Version'] });
    });

    it('invokes only aliases: by methods, event sources, schedules and permissions', () => {
      const [api] = listResources(canary, 'AWS::ApiGateway::RestApi');
      const integrations = Object.values(api?.Properties.Body.paths as Record<string, object>)
        .flatMap((path) => Object.values(path))
        .map((operation) => operation['x-amazon-apigateway-integration'])
        .filter(({ type }) => type === 'aws_proxy');
      expect(integrations.length).toBeGreaterThan(30);
      for (const { uri } of integrations) expect(isAlias(uri)).toBe(true);
      const sources = listResources(canary, 'AWS::Lambda::EventSourceMapping');
      const permissions = listResources(canary, 'AWS::Lambda::Permission');
      expect(sources).toHaveLength(workers.filter(({ source }) => !('schedule' in source)).length);
      for (const { Properties } of [...sources, ...permissions]) expect(isAlias(Properties.FunctionName)).toBe(true);
      for (const { Properties } of listResources(canary, 'AWS::Events::Rule'))
        expect(isAlias(Properties.Targets[0].Arn)).toBe(true);
      for (const { Properties } of listResources(canary, 'AWS::Lambda::EventInvokeConfig'))
        expect(Properties.Qualifier).not.toBe('$LATEST');
    });

    it('grants the invocation of the aliases before the stage invokes them', () => {
      const [stage] = listResources(canary, 'AWS::ApiGateway::Stage');
      const [api] = listResources(canary, 'AWS::ApiGateway::RestApi');
      const roles = Object.values(api?.Properties.Body.paths as Record<string, object>)
        .flatMap((path) => Object.values(path))
        .flatMap((operation) => operation['x-amazon-apigateway-integration'].credentials?.['Fn::GetAtt'][0] ?? []);
      const [role, ...others] = new Set(roles);
      expect(others).toEqual([]);
      const [policy] = Object.entries(getTemplate(canary).findResources('AWS::IAM::Policy')).filter(
        ([, { Properties }]) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role),
      );
      expect(isAlias(policy?.[1].Properties.PolicyDocument.Statement[0].Resource[0])).toBe(true);
      expect(stage?.DependsOn).toEqual(expect.arrayContaining([role, policy?.[0]]));
    });

    it('keeps the mappings of event sources, because a new mapping reads a stream from its start', () => {
      const listIds = (options: Readonly<Record<string, string>>) =>
        Object.keys(getTemplate(options).findResources('AWS::Lambda::EventSourceMapping')).sort();
      expect(listIds(canary)).toEqual(listIds(noOptions));
      expect(listResources(canary, 'AWS::Lambda::Alias').length).toBeGreaterThan(0);
    });

    it('rolls every function back by alarms that report its failures', () => {
      const alarms = Object.keys(getTemplate(canary).findResources('AWS::CloudWatch::Alarm'));
      for (const { Properties } of listResources(canary, 'AWS::CodeDeploy::DeploymentGroup')) {
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
      const groups = Object.entries(getTemplate(canary).findResources('AWS::CodeDeploy::DeploymentGroup'));
      for (const { id } of workers) {
        // A logical id ends with a hash of 8 digits.
        const pattern = new RegExp(`${id.replaceAll('-', '')}[0-9A-F]{8}$`);
        const [, group] = groups.find(([name]) => pattern.test(name)) ?? [];
        const [alarm] = group?.Properties.AlarmConfiguration.Alarms ?? [];
        expect(JSON.stringify(getTemplate(canary).findResources('AWS::CloudWatch::Alarm')[alarm?.Name.Ref])).toContain(
          `Workers${id.replaceAll('-', '')}Function`,
        );
      }
    });

    it('reports a failure of a release within half of its shift', () => {
      const groups = listResources(canary, 'AWS::CodeDeploy::DeploymentGroup');
      const names = groups.flatMap(({ Properties }) => Properties.AlarmConfiguration.Alarms);
      const alarms = getTemplate(canary).findResources('AWS::CloudWatch::Alarm');
      expect(names.length).toBeGreaterThan(40);
      for (const { Name } of names) {
        const { Period, Metrics = [], EvaluationPeriods } = alarms[Name.Ref]?.Properties ?? {};
        const seconds =
          Period ?? Metrics.find(({ MetricStat }: { MetricStat?: object }) => MetricStat).MetricStat.Period;
        expect(seconds * EvaluationPeriods).toBeLessThanOrEqual(300);
      }
    });

    it('shifts immediately and without alarms for a rollback or an urgent release', () => {
      const groups = listResources({ canary: 'AllAtOnce' }, 'AWS::CodeDeploy::DeploymentGroup');
      expect(groups.length).toBeGreaterThan(40);
      for (const { Properties } of groups) {
        expect(Properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce');
        expect(Properties.AlarmConfiguration.Enabled).toBe(false);
      }
    });

    it.each([noOptions, { canary: 'false' }])('creates no versions without the option (%j)', (options) => {
      for (const type of ['Version', 'Alias']) getTemplate(options).resourceCountIs(`AWS::Lambda::${type}`, 0);
      getTemplate(options).resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0);
    });
  });

  it('records no URL: neither traces nor execution logs nor per-method metrics of the stage', () => {
    const [stage] = listResources(noOptions, 'AWS::ApiGateway::Stage');
    const { TracingEnabled = false, MethodSettings = [], AccessLogSetting } = stage?.Properties ?? {};
    expect(TracingEnabled).toBe(false);
    for (const { LoggingLevel = 'OFF', DataTraceEnabled = false, MetricsEnabled = false } of MethodSettings)
      expect([LoggingLevel, DataTraceEnabled, MetricsEnabled]).toEqual(['OFF', false, false]);
    expect(AccessLogSetting.Format).not.toMatch(/context\.(path|domainName|protocol)|querystring|header/i);
    for (const { Properties } of listResources(noOptions, 'AWS::Lambda::Function'))
      expect(Properties.TracingConfig).toEqual({ Mode: 'Active' });
  });

  it('logs the error, status and latency of the integration', () => {
    const [stage] = listResources(noOptions, 'AWS::ApiGateway::Stage');
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
    expect(recursive).toEqual(['process-notification.handler', 'send-webhook.handler']);
    for (const { Properties } of listResources(noOptions, 'AWS::Lambda::Function'))
      expect(Properties.RecursiveLoop).toBe(recursive.includes(Properties.Handler) ? 'Allow' : undefined);
    expect(JSON.stringify(listResources(noOptions, 'AWS::CloudWatch::Alarm'))).toContain('RecursiveInvocationsDropped');
  });

  it('drops a scheduled run that waits longer than its schedule', () => {
    for (const { Properties } of listResources(noOptions, 'AWS::Events::Rule')) {
      const [target] = Properties.Targets as { RetryPolicy: { MaximumEventAgeInSeconds: number } }[];
      const [, count, unit = ''] = /rate\((\d+) (minute|hour)/.exec(Properties.ScheduleExpression) ?? [];
      const seconds = Number(count) * (unit === 'hour' ? 3_600 : 60);
      expect(target?.RetryPolicy.MaximumEventAgeInSeconds).toBe(seconds);
    }
  });

  it.each(['Latency', 'StageThrottles', 'AccountThrottles', 'DroppedRecursion', 'webhooksgivenup'])(
    'creates the alarm %s',
    (id) => {
      const ids = Object.keys(getTemplate(noOptions).findResources('AWS::CloudWatch::Alarm'));
      expect(ids.some((alarm) => alarm.startsWith(`Alarms${id}`))).toBe(true);
    },
  );

  it('shows queues, dead letters, streams, webhooks and stores on the dashboard', () => {
    const body = JSON.stringify(listResources(noOptions, 'AWS::CloudWatch::Dashboard'));
    for (const metric of ['ApproximateAgeOfOldestMessage', 'ApproximateNumberOfMessagesVisible', 'IteratorAge'])
      expect(body).toContain(metric);
    for (const title of ['Webhooks', 'Stores']) expect(body).toContain(title);
  });
});
