import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';

/** The JSON text of an answer as the schema's type. Throws `ConnectionFailed` for a page, garbage or other words. */
export function understood<S extends v.GenericSchema>(schema: S, text: string): v.InferOutput<S> {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  throw unavailable(`the answer is not as documented: ${v.getDotPath(issue) ?? 'it is no JSON'}`);
}

/** The error of a Microsoft that cannot be asked now; what is wrong stays in the cause. */
export const unavailable = (cause: unknown): ServiceError =>
  new ServiceError('ConnectionFailed', 'Microsoft cannot be asked now.', { cause });

/** The error of settings that Microsoft does not accept, with what the operator should look at. */
export const misconfigured = (advice: string, cause: string): ServiceError =>
  new ServiceError('InternalError', `Microsoft refuses the store_c settings of this application: ${advice}`, { cause });
