import { AsyncLocalStorage } from 'node:async_hooks';
import type { Container } from '../foundation/container.ts';

/** Aborts the requests of a check that has exceeded its timeout: locally, AWS clients wait without limit. */
export const checkSignal = new AsyncLocalStorage<AbortSignal>();

/** Adds the signal of the current check to the requests of AWS clients. */
export function addCheckSignal({ clientOptions, ...container }: Container): Container {
  const { requestHandler } = clientOptions;
  if (!requestHandler || !('handle' in requestHandler)) return { ...container, clientOptions };
  const handle: typeof requestHandler.handle = async (request, options) => {
    const abortSignal = checkSignal.getStore();
    return await requestHandler.handle(request, { ...options, ...(abortSignal && { abortSignal }) });
  };
  return { ...container, clientOptions: { ...clientOptions, requestHandler: { ...requestHandler, handle } } };
}
