import { Metric, type MetricProps } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { getServiceName } from './code-stack.ts';

/**
 * Creates a metric of the REST API. API Gateway names the API by its title, so the title is the stack name, which is
 * unique. The metric does not refer to the API: the API needs the functions, and their alarms would need the API.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 */
export const createApiMetric = (
  construct: Construct,
  metricName: '5XXError' | 'Count' | 'Latency',
  options: Pick<MetricProps, 'period' | 'statistic'>,
): Metric =>
  new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiName: getServiceName(construct) },
    ...options,
  });
