import { CfnOutput, Fn, Stack, Tags } from 'aws-cdk-lib';
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import { contracts as allContracts } from '../lib/contracts/index.ts';
import { notificationEndpoints } from '../lib/store-notifications/notification-endpoints.ts';
import { AccessLog } from './access-log.ts';
import { Api } from './api.ts';
import { type ApiFunction, ApiFunctions } from './api-functions.ts';
import { createConsoleFunction } from './console.ts';
import { consoleRoute } from './console-route.ts';
import {
  type DeploymentOptions,
  getEventRetentionDays,
  getRequestsPerKey,
  getWorkerConcurrency,
  isProduction,
} from './deployment-options.ts';
import { createEndpointStacks } from './endpoints.ts';
import { GradualRelease } from './gradual-release.ts';
import type { InvocationTarget } from './invocation-target.ts';
import { MasterKey } from './master-key.ts';
import { Monitoring, type MonitoringProps } from './monitoring.ts';
import { MonthlyBudget } from './monthly-budget.ts';
import { createNotificationFunctions } from './notification-endpoints.ts';
import { OperatorPolicy } from './operator-policy.ts';
import type { SharedResources } from './permissions.ts';
import { Queues } from './queues.ts';
import type { ServiceFunction } from './service-function.ts';
import { SyntheticCheck } from './synthetic-check.ts';
import { DataTable } from './table.ts';
import { TableBackup } from './table-backup.ts';
import { Triggers } from './triggers.ts';
import { WebAcl } from './web-acl.ts';
import { Workers } from './workers.ts';

interface ServiceStackProps {
  readonly options?: DeploymentOptions;
  /** Default: all endpoints. */
  readonly contracts?: readonly Contract[];
  /** Identifies the deployed code. Set by deployments only. */
  readonly sourceDigest?: string;
}

/**
 * The service: all resources of a deployment, built from the contracts. The stack has the resources that hold data or
 * have a public name: table, master key, queues, backup vault, REST API and alarm topic. Code without data is in nested
 * stacks, because a stack can have 500 resources.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html
 */
export class ServiceStack extends Stack {
  constructor(scope: Construct, id: string, props: ServiceStackProps = {}) {
    const { options = {}, contracts = allContracts, sourceDigest } = props;
    super(scope, id, {
      description: 'Claimcheck: purchase validation and entitlements',
      ...(isProduction(options) && { terminationProtection: true }),
    });
    const { stage, maxConcurrency, canary, exportLocations } = options;
    if (stage !== undefined) Tags.of(this).add('claimcheck:stage', stage);
    const { table } = new DataTable(this, 'Data', options);
    const { secret } = new MasterKey(this, 'Secrets', options);
    const queues = new Queues(this, 'Queues');
    const accessLog = new AccessLog(this, 'AccessLog');
    const hasAliases = canary !== undefined;
    const exports = exportLocations && { exportLocations };
    const resources = { table, secret, queues, hasAliases, ...exports };
    const functions = createFunctions(this, contracts, resources);
    const { topic, alarms } = this.addMonitoring(functions, { table, queues, accessLog, options });
    const release =
      canary === undefined
        ? undefined
        : new GradualRelease(this, 'Release', { trafficShift: canary, functions: functions.all.values(), alarms });
    const getTarget = (id: string): InvocationTarget =>
      release ? release.getTarget(id) : toTarget(getById(functions.all, id));
    new Triggers(this, 'Triggers', {
      getTarget,
      table,
      queues,
      ...(maxConcurrency !== undefined && { maxConcurrency }),
      ...exports,
    });
    const { api, url, domainTarget } = new Api(this, 'Api', {
      contracts,
      routes: [...notificationEndpoints, consoleRoute],
      functions: functions.ofApi,
      getTarget,
      accessLog,
      options,
    });
    const { policy } = new OperatorPolicy(this, 'Operator', {
      table,
      secret,
      queues,
      alarmTopic: topic,
      ...exports,
    });
    this.addOptionalResources(options, { api, url, topic, table });
    this.addOutput('ApiUrl', url, 'Base URL for clients');
    if (domainTarget !== undefined)
      this.addOutput('DomainTarget', domainTarget, 'Target of the DNS record of the domain name');
    this.addOutput('AlarmTopicArn', topic.topicArn, 'SNS topic of the alarms');
    this.addOutput('WebhooksQueueUrl', queues.queues.webhooks.queue.queueUrl, 'Queue of the webhooks');
    this.addOutput('OperatorPolicyArn', policy.managedPolicyArn, 'IAM policy for the roles of operators');
    this.addQueueOutputs(queues);
    this.addOutput(
      'WorkerConcurrency',
      String(getWorkerConcurrency(options)),
      'Maximum instances of all queue workers',
    );
    if (exportLocations) this.addOutput('ExportLocations', exportLocations.join(','), 'Locations of scheduled exports');
    if (sourceDigest !== undefined) this.addOutput('SourceDigest', sourceDigest, 'Digest of the deployed code');
    this.addOutput('EventRetentionDays', getEventRetentionDays(this.node), 'Retention of events');
    const requestsPerKey = getRequestsPerKey(this.node);
    if (requestsPerKey !== undefined) this.addOutput('RequestsPerKey', requestsPerKey, 'Requests a second of one key');
    this.addOutput('TableName', table.tableName, 'Table of all data');
    if (table.tableStreamArn !== undefined) this.addOutput('StreamArn', table.tableStreamArn, 'Stream of the table');
    this.addOutput('MasterKeyId', secret.secretArn, 'Secret with the master key');
  }

  private addMonitoring(
    { endpoints, notificationEndpoints: receivers, workers, ofApi }: Functions,
    resources: Pick<MonitoringProps, 'table' | 'queues' | 'accessLog' | 'options'>,
  ): Monitoring {
    return new Monitoring(this, 'Alarms', {
      ...resources,
      functions: getHandlers(endpoints),
      notificationEndpoints: getHandlers(receivers),
      workers: getHandlers(workers),
      queriedLogs: {
        endpoints: [...getHandlers(pickFunctions(ofApi)).values()],
        workers: [...getHandlers(workers).values()],
      },
    });
  }

  private addOptionalResources(
    options: DeploymentOptions,
    {
      api,
      url,
      topic,
      table,
    }: { readonly api: SpecRestApi; readonly url: string; readonly topic: ITopic; readonly table: ITable },
  ): void {
    const { waf, syntheticCheck, backup, monthlyBudgetUsd, alarmEmail } = options;
    const { tableName: adoptedTableName, backupCopyVaultArn: copyVaultArn } = options;
    if (waf) new WebAcl(this, 'WebAcl', { api, options });
    if (syntheticCheck) new SyntheticCheck(this, 'SyntheticCheck', { url, topic });
    if (backup) new TableBackup(this, 'Backup', { table, topic, adoptedTableName, copyVaultArn });
    if (monthlyBudgetUsd !== undefined && alarmEmail !== undefined)
      new MonthlyBudget(this, 'Budget', { limitUsd: monthlyBudgetUsd, email: alarmEmail });
  }

  private addQueueOutputs({ queues, streamFailures }: Queues): void {
    const arns = Object.values(queues).map(({ queue }) => queue.queueArn);
    this.addOutput('QueueArns', Fn.join(',', arns), 'Work queues');
    const description = 'Source of a redrive';
    this.addOutput('NotificationsDeadLetterQueueArn', queues.notifications.deadLetterQueue.queueArn, description);
    this.addOutput('RefreshesDeadLetterQueueArn', queues.refreshes.deadLetterQueue.queueArn, description);
    this.addOutput('WebhooksDeadLetterQueueArn', queues.webhooks.deadLetterQueue.queueArn, description);
    this.addOutput('ForwardsDeadLetterQueueArn', queues.forwards.deadLetterQueue.queueArn, description);
    const messages = 'Messages that failed all attempts';
    this.addOutput('NotificationsDeadLetterQueueUrl', queues.notifications.deadLetterQueue.queueUrl, messages);
    this.addOutput('RefreshesDeadLetterQueueUrl', queues.refreshes.deadLetterQueue.queueUrl, messages);
    this.addOutput('WebhooksDeadLetterQueueUrl', queues.webhooks.deadLetterQueue.queueUrl, messages);
    this.addOutput('ForwardsDeadLetterQueueUrl', queues.forwards.deadLetterQueue.queueUrl, messages);
    this.addOutput('StreamFailuresQueueUrl', streamFailures.queueUrl, 'Messages about discarded stream records');
  }

  private addOutput(id: string, value: string, description: string): void {
    new CfnOutput(this, id, { value, description });
  }
}

/** The functions of all nested stacks. */
interface Functions {
  /** Functions by contract id, endpoint id and worker id. */
  readonly endpoints: FunctionsById;
  readonly notificationEndpoints: FunctionsById;
  readonly workers: FunctionsById;
  /** The functions of the API by the id of their contract or route. */
  readonly ofApi: ReadonlyMap<string, ApiFunction>;
  readonly all: FunctionsById;
}
type FunctionsById = ReadonlyMap<string, ServiceFunction>;

/** Creates the nested stacks of the functions. */
function createFunctions(scope: Construct, contracts: readonly Contract[], resources: SharedResources): Functions {
  const endpoints = createEndpointStacks(scope, contracts, resources).flatMap(({ functions }) => [...functions]);
  const { functions: receivers } = new ApiFunctions(scope, 'NotificationEndpoints', 'notification endpoints', (stack) =>
    createNotificationFunctions(stack, resources),
  );
  const { functions: console } = new ApiFunctions(scope, 'Console', 'web console', (stack) => [
    createConsoleFunction(stack, resources),
  ]);
  const { functions: workers } = new Workers(scope, 'Workers', resources);
  const ofApi = new Map([...endpoints, ...receivers, ...console]);
  return {
    endpoints: pickFunctions(endpoints),
    notificationEndpoints: pickFunctions(receivers),
    workers,
    ofApi,
    all: new Map([...pickFunctions(ofApi), ...workers]),
  };
}

const pickFunctions = (functions: Iterable<readonly [string, ApiFunction]>): FunctionsById =>
  new Map([...functions].map(([id, { serviceFunction }]) => [id, serviceFunction]));

function getById(functions: FunctionsById, id: string): ServiceFunction {
  const serviceFunction = functions.get(id);
  if (!serviceFunction) throw new Error(`The function ${id} is not found.`);
  return serviceFunction;
}

const toTarget = ({ handler }: ServiceFunction): InvocationTarget => ({
  arn: handler.functionArn,
  name: handler.functionName,
  functionName: handler.functionName,
  qualifier: '$LATEST',
});

const getHandlers = (functions: FunctionsById): ReadonlyMap<string, LambdaFunction> =>
  new Map([...functions].map(([id, { handler }]) => [id, handler]));
