import { startDynamoDbLocal } from '../local/dynamodb-local.ts';
import { type Meter, startMeter } from './units/meter.ts';

type Service = Awaited<ReturnType<typeof import('../testing/service.ts').startTestService>>;
type Queues = Awaited<ReturnType<typeof import('../testing/work-queues.ts').startWorkQueues>>;

/** The handlers and workers with DynamoDB Local behind a meter, and with the emulated stores. */
export interface MeteredService {
  readonly service: Service;
  readonly queues: Queues;
  readonly meter: Meter;
}

/** Starts the metered service, runs `use` and stops the service. */
export async function withMeteredService<T>(use: (metered: MeteredService) => Promise<T>): Promise<T> {
  const engine = await startDynamoDbLocal();
  const meter = await startMeter(engine.endpoint);
  process.env.DYNAMODB_ENDPOINT = meter.endpoint;
  const { startTestService } = await import('../testing/service.ts');
  const { startWorkQueues } = await import('../testing/work-queues.ts');
  const service = await startTestService();
  const queues = await startWorkQueues();
  try {
    return await use({ service, queues, meter });
  } finally {
    await queues.close();
    await service.close();
    await meter.close();
    await engine.close();
  }
}
