import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { AwsSolutionsChecks } from 'cdk-nag';
import { readDeploymentOptions } from '../../infra/deployment-options.ts';
import { sendsToOwnQueue, workers } from '../../infra/workers.ts';
import { createStack, everyOption } from './stack-fixture.ts';

const cache = new Map<object, Template>();
const getTemplate = (options: Readonly<Record<string, string>>): Template => {
  const template = cache.get(options) ?? Template.fromStack(createStack(options).stack);
  cache.set(options, template);
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
  ])('rejects %j and names %s', (options, name) => {
    expect(() => readDeploymentOptions(new App({ context: options }).node)).toThrow(name);
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
    const functions = listResources(everyOption, 'AWS::Lambda::Function');
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
    const policies = JSON.stringify(listResources(everyOption, 'AWS::IAM::Policy'));
    expect(policies).toContain(`table/${everyOption.tableName}/index/byKey`);
  });

  it('retains the table and the master key when an update adopts others, and refers to the adopted ones only', () => {
    const { tableName, masterKeyArn, ...created } = everyOption;
    const before = getTemplate(created).toJSON().Resources as Record<string, Json>;
    const adopted = getTemplate(everyOption).toJSON() as { Resources: Record<string, Json>; Outputs: Json };
    const removed = Object.entries(before).filter(([id]) => !(id in adopted.Resources));
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
    expect(readFileSync('docs/operating.md', 'utf8')).toContain(
      `path=/*/*/throttling/rateLimit,value=${settings.ThrottlingRateLimit}'`,
    );
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
    const recursive = workers.filter(sendsToOwnQueue).map(({ id }) => `workers/${id}.handler`);
    expect(recursive).toEqual(['workers/process-notification.handler', 'workers/send-webhook.handler']);
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
