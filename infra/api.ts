import { Aws, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiDefinition,
  EndpointType,
  LogGroupLogDestination,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { Contract } from '../lib/api/contract.ts';
import type { NotificationEndpoint } from '../lib/store-notifications/notification-endpoints.ts';
import { buildGatewayDocument } from './gateway-document.ts';

interface ApiProps {
  readonly contracts: readonly Contract[];
  readonly hooks: readonly NotificationEndpoint[];
  /** By contract id or hook id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
}

/** The regional REST API. */
export class Api extends Construct {
  readonly api: SpecRestApi;
  /** The base URL, to which paths that begin with a slash are added. */
  readonly url: string;

  constructor(scope: Construct, id: string, { contracts, hooks: endpoints, functions }: ApiProps) {
    super(scope, id);
    const accessLog = new LogGroup(this, 'AccessLog', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The name by which its metrics are known, so that of two services each has its own.
    const title = Stack.of(this).stackName;
    this.api = new SpecRestApi(this, 'RestApi', {
      restApiName: title,
      apiDefinition: ApiDefinition.fromInline(
        buildGatewayDocument(contracts, {
          title,
          hooks: endpoints,
          uriOf: (functionId) => buildInvocationUri(functions, functionId),
        }),
      ),
      endpointTypes: [EndpointType.REGIONAL],
      // An account that has never logged an API has no role for it, and refuses a stage with an access log.
      cloudWatchRole: true,
      deployOptions: {
        stageName: 'live',
        tracingEnabled: true,
        metricsEnabled: true,
        throttlingRateLimit: 2_000,
        throttlingBurstLimit: 1_000,
        accessLogDestination: new LogGroupLogDestination(accessLog),
        accessLogFormat,
      },
    });
    const { restApiId, deploymentStage } = this.api;
    this.url = `https://${restApiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}/${deploymentStage.stageName}`;
    for (const handler of functions.values()) {
      handler.addPermission('Api', {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        sourceArn: this.api.arnForExecuteApi(),
      });
    }
  }
}

function buildInvocationUri(functions: ApiProps['functions'], functionId: string): string {
  const handler = functions.get(functionId);
  if (!handler) throw new Error(`There is no function for ${functionId}.`);
  return `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${handler.functionArn}/invocations`;
}

/** Neither the query nor a header: both may carry keys. The path may name a user, so the route's template stands for it. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    requestId: AccessLogField.contextRequestId(),
    at: AccessLogField.contextRequestTime(),
    method: AccessLogField.contextHttpMethod(),
    route: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    error: AccessLogField.contextErrorResponseType(),
    latencyMs: AccessLogField.contextResponseLatency(),
    bytes: AccessLogField.contextResponseLength(),
    ip: AccessLogField.contextIdentitySourceIp(),
  }),
);
