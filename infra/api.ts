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
  readonly notificationEndpoints: readonly NotificationEndpoint[];
  /** Functions by contract id or endpoint id. */
  readonly functions: ReadonlyMap<string, LambdaFunction>;
}

/** The regional REST API. */
export class Api extends Construct {
  readonly api: SpecRestApi;
  /** Base URL without a trailing slash. */
  readonly url: string;

  constructor(scope: Construct, id: string, { contracts, notificationEndpoints, functions }: ApiProps) {
    super(scope, id);
    const accessLog = new LogGroup(this, 'AccessLog', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The API name is a dimension of the metrics, so it must be unique for each stack.
    const title = Stack.of(this).stackName;
    this.api = new SpecRestApi(this, 'RestApi', {
      restApiName: title,
      apiDefinition: ApiDefinition.fromInline(
        buildGatewayDocument(contracts, {
          title,
          notificationEndpoints,
          toInvocationUri: (functionId) => buildInvocationUri(functions, functionId),
        }),
      ),
      endpointTypes: [EndpointType.REGIONAL],
      // API Gateway rejects a stage with an access log if the account has no CloudWatch role.
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
  if (!handler) throw new Error(`The function ${functionId} is not found.`);
  return `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${handler.functionArn}/invocations`;
}

/** Omits query string and headers, which can contain keys, and logs the path template, because the path can contain a username. */
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
