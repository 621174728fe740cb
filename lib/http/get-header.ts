import type { APIGatewayProxyEvent } from 'aws-lambda';

/** Reads an HTTP header; names are case-insensitive. */
export const getHeader = ({ headers }: Pick<APIGatewayProxyEvent, 'headers'>, name: string): string | undefined =>
  Object.entries(headers ?? {}).find(([header]) => header.toLowerCase() === name)?.[1];
