import type { APIGatewayProxyEvent } from 'aws-lambda';
import { startHttpServer } from '../local/http-server.ts';
import { toProxyEvent } from './proxy-event.ts';

/** A notification endpoint that accepts the notifications of the emulated stores and keeps them for the test. */
export interface NotificationLog {
  readonly url: string;
  /** Returns and removes the notifications received since the last call, as API Gateway events. */
  takeNew(): APIGatewayProxyEvent[];
  close(): Promise<void>;
}

/** Starts the endpoint. Wait for the emulator (`waitUntilNotified`) before `takeNew`. */
export async function startNotificationLog(): Promise<NotificationLog> {
  let events: APIGatewayProxyEvent[] = [];
  const server = await startHttpServer(async (request, response) => {
    events.push(await toProxyEvent(request));
    response.end();
  });
  return {
    ...server,
    takeNew() {
      const newEvents = events;
      events = [];
      return newEvents;
    },
  };
}
