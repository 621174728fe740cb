import * as v from 'valibot';
import type { TemplateNames } from '../intrinsics.ts';
import { listResources, type Template } from '../template.ts';

const Parameters = v.record(v.string(), v.string());
const Status = v.pipe(v.union([v.string(), v.number()]), v.transform(Number));

const Mock = v.object({
  type: v.literal('mock'),
  responses: v.object({
    default: v.object({
      statusCode: Status,
      responseParameters: v.optional(Parameters, {}),
      responseTemplates: v.exactOptional(v.object({ 'application/json': v.string() })),
    }),
  }),
});
const AwsProxy = v.object({ type: v.literal('aws_proxy'), uri: v.string(), timeoutInMillis: v.number() });
const Operation = v.object({ 'x-amazon-apigateway-integration': v.variant('type', [Mock, AwsProxy]) });

const GatewayResponse = v.object({
  statusCode: v.optional(Status),
  responseParameters: v.optional(Parameters, {}),
  responseTemplates: v.object({ 'application/json': v.string() }),
});

/** The parts of a REST API's OpenAPI body that routing needs. */
export const GatewayDocument = v.object({
  paths: v.record(v.string(), v.record(v.string(), Operation)),
  /** In bytes. Without it, responses are not compressed. */
  'x-amazon-apigateway-minimum-compression-size': v.exactOptional(v.number()),
  'x-amazon-apigateway-gateway-responses': v.record(v.string(), GatewayResponse),
});
export type GatewayDocument = v.InferOutput<typeof GatewayDocument>;

export type Integration = v.InferOutput<typeof Operation>['x-amazon-apigateway-integration'];

/** Reads the OpenAPI body of the template's REST API. */
export function readGatewayDocument(template: Template, names: TemplateNames): GatewayDocument {
  const properties = v.object({ Body: GatewayDocument });
  const [api] = listResources(template, 'AWS::ApiGateway::RestApi', { properties, names }).values();
  if (!api) throw new Error('The template has no REST API.');
  return api.Body;
}
