import type { AttributeValue as SdkAttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { AttributeValue } from 'aws-lambda';
import { type Item, unmarshallOptions } from './table.ts';

/** Converts an image of a stream record into plain values. Binary values stay Base64 text, as Lambda delivers them. */
export const unmarshallImage = (image: Readonly<Record<string, AttributeValue>>): Item =>
  unmarshall(image as Record<string, SdkAttributeValue>, unmarshallOptions);
