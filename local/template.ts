import * as v from 'valibot';
import { resolveIntrinsics, type TemplateNames } from './intrinsics.ts';

/** The resources of a synthesized CloudFormation template. */
export const Template = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string(), Properties: v.optional(v.unknown()) })),
  Outputs: v.exactOptional(v.record(v.string(), v.object({ Value: v.unknown() }))),
});
export type Template = v.InferOutput<typeof Template>;

/** Lists the resources of a type by logical id, with their properties resolved and parsed. */
export function listResources<S extends v.GenericSchema>(
  { Resources }: Template,
  type: string,
  { properties, names }: { readonly properties: S; readonly names: TemplateNames },
): ReadonlyMap<string, v.InferOutput<S>> {
  const resources = Object.entries(Resources).filter(([, resource]) => resource.Type === type);
  return new Map(
    resources.map(
      ([id, resource]) => [id, v.parse(properties, resolveIntrinsics(resource.Properties ?? {}, names))] as const,
    ),
  );
}

export const resolveOutputs = ({ Outputs = {} }: Template, names: TemplateNames): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(Outputs).map(([name, { Value }]) => [name, String(resolveIntrinsics(Value, names))] as const),
  );
