import { CfnOutput, Stack, Tags } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { contracts } from '../lib/api/index.ts';
import { notificationEndpoints } from '../lib/store-notifications/notification-endpoints.ts';
import { Alarms } from './alarms.ts';
import { Api } from './api.ts';
import { Console, consoleRoute } from './console.ts';
import { type DeploymentOptions, getEventRetentionDays, isProduction } from './deployment-options.ts';
import { Endpoints } from './endpoints.ts';
import { GradualRelease } from './gradual-release.ts';
import { LogQueries } from './log-queries.ts';
import { MasterKey } from './master-key.ts';
import { MonthlyBudget } from './monthly-budget.ts';
import { NotificationEndpoints } from './notification-endpoints.ts';
import { OperatorPolicy } from './operator-policy.ts';
import type { StoreEmulatorConfig } from './permissions.ts';
import { Queues } from './queues.ts';
import type { ServiceFunction } from './service-function.ts';
import { DataTable } from './table.ts';
import { TableBackup } from './table-backup.ts';
import { WebAcl } from './web-acl.ts';
import { defaultMaxConcurrency, Workers } from './workers.ts';

interface ServiceStackProps {
  /** Set by the local runtime only. */
  readonly emulator?: StoreEmulatorConfig;
  readonly options?: DeploymentOptions;
  /** Identifies the deployed code. Set by deployments only. */
  readonly sourceDigest?: string;
}

/** The service: all resources of a deployment, built from the contracts. */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, { emulator, options = {}, sourceDigest }: ServiceStackProps = {}) {
    super(scope, id, {
      description: 'Claimcheck: purchase validation and entitlements',
      ...(isProduction(options) && { terminationProtection: true }),
    });
    const { stage, maxConcurrency, canary } = options;
    if (stage !== undefined) Tags.of(this).add('claimcheck:stage', stage);
    const { table } = new DataTable(this, 'Data', options);
    const { secret } = new MasterKey(this, 'Secrets', options);
    const queues = new Queues(this, 'Queues');
    const hasAliases = canary !== undefined;
    const resources = { table, secret, queues, hasAliases, ...(emulator && { emulator }) };
    const { functions } = new Endpoints(this, 'Endpoints', { contracts, ...resources });
    const endpoints = new NotificationEndpoints(this, 'NotificationEndpoints', resources);
    const { serviceFunction: consoleFunction } = new Console(this, 'Console', resources);
    const workers = new Workers(this, 'Workers', {
      ...resources,
      ...(maxConcurrency !== undefined && { maxConcurrency }),
    }).functions;
    const { api, url, accessLog, domainTarget } = new Api(this, 'Api', {
      contracts,
      routes: [...notificationEndpoints, consoleRoute],
      functions: new Map([...functions, ...endpoints.functions, [consoleFunction.id, consoleFunction]]),
      options,
    });
    const alarms = new Alarms(this, 'Alarms', {
      api,
      accessLog,
      table,
      functions: getHandlers(functions),
      notificationEndpoints: getHandlers(endpoints.functions),
      workers: getHandlers(workers),
      queues,
      options,
    });
    const allFunctions = [functions, endpoints.functions, workers].flatMap((byId) => [...byId.values()]);
    new LogQueries(this, 'LogQueries', {
      endpoints: [
        ...[functions, endpoints.functions].flatMap((byId) => [...getHandlers(byId).values()]),
        consoleFunction.handler,
      ],
      workers: [...getHandlers(workers).values()],
      accessLog,
    });
    const { policy } = new OperatorPolicy(this, 'Operator', {
      table,
      secret,
      queues,
      alarmTopic: alarms.topic,
    });
    if (canary !== undefined)
      new GradualRelease(this, 'Release', {
        trafficShift: canary,
        functions: [...allFunctions, consoleFunction],
        alarms,
      });
    this.addOptionalResources(options, { api, table });
    this.addOutput('ApiUrl', url, 'Base URL for clients');
    if (domainTarget !== undefined)
      this.addOutput('DomainTarget', domainTarget, 'Target of the DNS record of the domain name');
    this.addOutput('AlarmTopicArn', alarms.topic.topicArn, 'SNS topic of the alarms');
    this.addOutput('WebhooksQueueUrl', queues.queues.webhooks.queue.queueUrl, 'Queue of the webhooks');
    this.addOutput('OperatorPolicyArn', policy.managedPolicyArn, 'IAM policy for the roles of operators');
    this.addQueueOutputs(queues);
    this.addOutput(
      'WorkerConcurrency',
      String((maxConcurrency ?? defaultMaxConcurrency) * Object.keys(queues.queues).length),
      'Maximum instances of all queue workers',
    );
    if (sourceDigest !== undefined) this.addOutput('SourceDigest', sourceDigest, 'Digest of the deployed code');
    this.addOutput('EventRetentionDays', getEventRetentionDays(this.node), 'Retention of events');
    this.addOutput('TableName', table.tableName, 'Table of all data');
    this.addOutput('MasterKeyId', secret.secretArn, 'Secret with the master key');
  }

  private addOptionalResources(
    { waf, backup, monthlyBudgetUsd, alarmEmail, tableName: adoptedTableName }: DeploymentOptions,
    { api, table }: { readonly api: SpecRestApi; readonly table: ITable },
  ): void {
    if (waf) new WebAcl(this, 'WebAcl', { api });
    if (backup) new TableBackup(this, 'Backup', { table, adoptedTableName });
    if (monthlyBudgetUsd !== undefined && alarmEmail !== undefined)
      new MonthlyBudget(this, 'Budget', { limitUsd: monthlyBudgetUsd, email: alarmEmail });
  }

  private addQueueOutputs({ queues, streamFailures }: Queues): void {
    const description = 'Source of a redrive';
    this.addOutput('NotificationsDeadLetterQueueArn', queues.notifications.deadLetterQueue.queueArn, description);
    this.addOutput('RefreshesDeadLetterQueueArn', queues.refreshes.deadLetterQueue.queueArn, description);
    this.addOutput('WebhooksDeadLetterQueueArn', queues.webhooks.deadLetterQueue.queueArn, description);
    const messages = 'Messages that failed all attempts';
    this.addOutput('NotificationsDeadLetterQueueUrl', queues.notifications.deadLetterQueue.queueUrl, messages);
    this.addOutput('RefreshesDeadLetterQueueUrl', queues.refreshes.deadLetterQueue.queueUrl, messages);
    this.addOutput('WebhooksDeadLetterQueueUrl', queues.webhooks.deadLetterQueue.queueUrl, messages);
    this.addOutput('StreamFailuresQueueUrl', streamFailures.queueUrl, 'Messages about discarded stream records');
  }

  private addOutput(id: string, value: string, description: string): void {
    new CfnOutput(this, id, { value, description });
  }
}

const getHandlers = (functions: ReadonlyMap<string, ServiceFunction>): ReadonlyMap<string, LambdaFunction> =>
  new Map([...functions].map(([id, { handler }]) => [id, handler]));
