import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type ILogGroup, QueryDefinition, QueryString, type QueryStringProps } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { splitIntoChunks } from '../lib/foundation/batches.ts';
import { getServiceName } from './code-stack.ts';

export interface LogQueriesProps {
  /** The functions of endpoints and notification endpoints. */
  readonly endpoints: readonly LambdaFunction[];
  readonly workers: readonly LambdaFunction[];
  readonly accessLog: ILogGroup;
}

/** CloudWatch accepts at most 50 log groups in a query. */
const maxLogGroups = 50;

const error = 'level = "ERROR"';
const newestFirst = { sort: '@timestamp desc', limit: 200 };

/**
 * Queries of the logs of functions. Lambda writes the object of lib/foundation/log.ts to the field `message`.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html
 */
const functionQueries: Readonly<Record<string, QueryStringProps>> = {
  'errors-by-code': {
    filterStatements: [error],
    statsStatements: [
      'count(*) as failures, max(@timestamp) as latest by message.code, message.endpoint, message.worker, message.message',
    ],
    sort: 'failures desc',
    limit: 100,
  },
  'errors-by-app': {
    filterStatements: [error, 'ispresent(message.app)'],
    statsStatements: [
      'count(*) as failures, max(@timestamp) as latest by message.app, message.code, message.endpoint, message.worker',
    ],
    sort: 'failures desc',
    limit: 100,
  },
  'latest-errors': {
    fields: [
      '@timestamp',
      'message.code',
      'message.message',
      'message.app',
      'message.endpoint',
      'message.worker',
      'message.eventId',
      // A text, or an error.
      'message.cause',
      'message.cause.stack',
    ],
    filterStatements: [error],
    ...newestFirst,
  },
  'rejected-credentials': {
    fields: ['@timestamp', 'message.blocked', 'message.address', 'message.app', 'message.until'],
    filterStatements: ['ispresent(message.blocked)'],
    ...newestFirst,
  },
};

/** Queries of the logs of workers. */
const workerQueries: Readonly<Record<string, QueryStringProps>> = {
  'webhooks-given-up': {
    fields: ['@timestamp', 'message.app', 'message.deliveryId', 'message.message'],
    filterStatements: ['message.problem = "WebhookDead"'],
    ...newestFirst,
  },
  'notifications-delayed': {
    fields: ['@timestamp', 'message.app', 'message.eventId', 'message.message'],
    filterStatements: ['message.problem = "NotificationDelayed"'],
    ...newestFirst,
  },
  'due-items-late': {
    fields: ['@timestamp', 'message.app', 'message.message'],
    filterStatements: ['message.problem = "DueItemsLate"'],
    ...newestFirst,
  },
  'purchases-not-refreshed': {
    fields: ['@timestamp', 'message.app', 'message.purchaseId', 'message.code', 'message.message', 'message.eventId'],
    filterStatements: ['message.worker = "refresh-purchase"'],
    ...newestFirst,
  },
};

/** Queries of the access log of the stage. */
const accessLogQueries: Readonly<Record<string, QueryStringProps>> = {
  'slow-requests': {
    filterStatements: ['ispresent(latencyMs)'],
    statsStatements: ['count(*) as requests, pct(latencyMs, 95) as p95Ms, max(latencyMs) as maxMs by method, route'],
    sort: 'p95Ms desc',
    limit: 100,
  },
  'failed-requests': {
    fields: ['@timestamp', 'requestId', 'method', 'route', 'status', 'error', 'integrationStatus', 'integrationError'],
    filterStatements: ['status >= 500'],
    ...newestFirst,
  },
  'rejected-requests-by-address': {
    filterStatements: ['status in [401, 403, 429]'],
    statsStatements: ['count(*) as requests, max(@timestamp) as latest by ip, status, integrationStatus'],
    sort: 'requests desc',
    limit: 100,
  },
};

/**
 * Saved queries of CloudWatch Logs Insights, in a folder with the name of the stack. They cost nothing until they run.
 */
export class LogQueries extends Construct {
  constructor(scope: Construct, id: string, { endpoints, workers, accessLog }: LogQueriesProps) {
    super(scope, id);
    const workerLogs = workers.map(({ logGroup }) => logGroup);
    const logs = [...workerLogs, ...endpoints.map(({ logGroup }) => logGroup)];
    for (const [name, query] of Object.entries(functionQueries))
      for (const [index, chunk] of splitIntoChunks(logs, maxLogGroups).entries())
        this.addQuery(index === 0 ? name : `${name}-${index + 1}`, query, chunk);
    for (const [name, query] of Object.entries(workerQueries)) this.addQuery(name, query, workerLogs);
    for (const [name, query] of Object.entries(accessLogQueries)) this.addQuery(name, query, [accessLog]);
  }

  private addQuery(name: string, query: QueryStringProps, logGroups: ILogGroup[]): void {
    new QueryDefinition(this, name, {
      queryDefinitionName: `${getServiceName(this)}/${name}`,
      queryString: new QueryString(query),
      logGroups,
    });
  }
}
