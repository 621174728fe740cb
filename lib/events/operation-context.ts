import type { App } from '../apps/app.ts';
import type { Service } from '../foundation/service.ts';
import type { EventRecorder } from './event-recorder.ts';

/** One request or job: its app, and the event that records it. The first argument of the use cases that record one. */
export interface OperationContext {
  readonly app: App;
  readonly recorder: EventRecorder;
  readonly service: Service;
}
