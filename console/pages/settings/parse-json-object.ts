import { apiError } from '../../api/api-error.ts';

/** Parses a JSON object that the user entered. Throws an `ApiError` with the position if it is none. */
export function parseJsonObject(text: string, name: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw new Error('it must begin with {');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw apiError({ status: 400, code: 'InvalidPayload', message: `${name} must be a JSON object: ${reason}.` });
  }
}
