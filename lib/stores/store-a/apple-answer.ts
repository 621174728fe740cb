import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';

/** The JSON text of an answer as the schema's type. Throws `ConnectionFailed` for a page, garbage or other words. */
export function understood<S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw unavailable(`the answer is not as documented: ${v.getDotPath(issue) ?? 'it is no JSON'}`);
}

/** The error of an Apple that cannot be asked now; what is wrong stays in the cause. */
export const unavailable = (cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', 'Apple cannot be asked now.', { cause });

/** The error of settings that Apple does not accept. */
export const misconfigured = (cause: string): ServiceError =>
  new ServiceError('InternalError', 'Apple refuses the store_a settings of this application.', { cause });
