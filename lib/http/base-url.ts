import type { APIGatewayProxyEvent } from 'aws-lambda';
import { getHeader } from './get-header.ts';
import type { PathMatch } from './match-path.ts';

/**
 * Returns the URL of the service as the client calls it. The path of the request context starts with the stage, or with
 * the base path of a custom domain.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
export function getBaseUrl(lambdaEvent: APIGatewayProxyEvent, { template }: Pick<PathMatch, 'template'>): string {
  const { domainName = '', path = '' } = lambdaEvent.requestContext;
  const length = template.split('/').filter((segment) => segment !== '').length;
  const segments = path.split('/').filter((segment) => segment !== '');
  const prefix = segments.slice(0, -length).map((segment) => `/${segment}`);
  return `${getHeader(lambdaEvent, 'x-forwarded-proto') ?? 'https'}://${domainName}${prefix.join('')}`;
}
