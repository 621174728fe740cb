import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

/** A template of an assembly. Unlike `Template`, it keeps every member of its resources. */
const StackTemplate = v.object({
  Parameters: v.exactOptional(v.record(v.string(), v.unknown()), {}),
  Resources: v.record(v.string(), v.looseObject({ Type: v.string(), Properties: v.optional(v.unknown()) })),
  Outputs: v.exactOptional(v.record(v.string(), v.looseObject({ Value: v.unknown() }))),
});
export type StackTemplate = v.InferOutput<typeof StackTemplate>;

const StackResource = v.object({
  TemplateURL: v.unknown(),
  Parameters: v.optional(v.record(v.string(), v.unknown()), {}),
});

const Assets = v.object({ files: v.record(v.string(), v.object({ source: v.object({ path: v.string() }) })) });

/** The templates of a deployment. */
export interface StackTemplates {
  /** The stack of `cdk deploy`. */
  readonly root: StackTemplate;
  /** Templates of its nested stacks by logical id. */
  readonly nested: ReadonlyMap<string, StackTemplate>;
}

const stackType = 'AWS::CloudFormation::Stack';

/**
 * Reads the templates of a stack and of its nested stacks from the folder of a synthesis. The URL of a nested template
 * ends with the hash of an asset, whose file is in the manifest.
 */
export function readStackTemplates(folder: string, stackName: string): StackTemplates {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, file), 'utf8'));
  const root = v.parse(StackTemplate, read(`${stackName}.template.json`));
  const { files } = v.parse(Assets, read(`${stackName}.assets.json`));
  const nested = Object.entries(root.Resources)
    .filter(([, { Type }]) => Type === stackType)
    .map(([id, { Properties }]) => {
      const url = JSON.stringify(v.parse(StackResource, Properties).TemplateURL);
      const path = files[/([0-9a-f]{64})\.json/.exec(url)?.[1] ?? '']?.source.path;
      if (path === undefined)
        throw new Error(`The template of the nested stack ${id} is not an asset of ${stackName}.`);
      return [id, v.parse(StackTemplate, read(path))] as const;
    });
  return { root, nested: new Map(nested) };
}

/**
 * Joins the templates of a deployment in one, in which the resources of a nested stack have the logical id of the stack
 * as a prefix. Replaces parameters and outputs of nested stacks by the expressions of their values.
 */
export function joinStackTemplates({ root, nested }: StackTemplates): StackTemplate {
  const scopes = new Map([...nested].map(([id, template]) => [id, createNestedScope(id, template)] as const));
  const rootScope: Scope = {
    ref: (id) => ({ Ref: id }),
    attribute: (id, name) => scopes.get(id)?.output(name) ?? { 'Fn::GetAtt': [id, name] },
  };
  function createNestedScope(stackId: string, { Resources, Outputs = {} }: StackTemplate) {
    const { Parameters } = v.parse(StackResource, root.Resources[stackId]?.Properties);
    const scope: Scope = {
      ref: (id) => {
        if (id in Parameters) return replaceReferences(Parameters[id], rootScope);
        return { Ref: id in Resources ? stackId + id : id };
      },
      attribute: (id, name) => ({ 'Fn::GetAtt': [stackId + id, name] }),
    };
    const output = (attribute: string): unknown => {
      const { Value } = Outputs[attribute.replace(/^Outputs\./, '')] ?? {};
      if (Value === undefined) throw new Error(`The nested stack ${stackId} has no value ${attribute}.`);
      return replaceReferences(Value, scope);
    };
    return { ...scope, output };
  }
  const own = Object.entries(root.Resources).filter(([id]) => !nested.has(id));
  return {
    Parameters: root.Parameters,
    Resources: Object.fromEntries([
      ...own.map(([id, resource]) => [id, replaceInResource(resource, rootScope)] as const),
      ...[...nested].flatMap(([stackId, { Resources }]) =>
        Object.entries(Resources).map(
          ([id, resource]) => [stackId + id, replaceInResource(resource, scopes.get(stackId) ?? rootScope)] as const,
        ),
      ),
    ]),
    ...(root.Outputs && {
      Outputs: replaceReferences(root.Outputs, rootScope) as NonNullable<StackTemplate['Outputs']>,
    }),
  };
}

/** Replacements of the references in one template. */
interface Scope {
  ref(id: string): unknown;
  attribute(id: string, name: string): unknown;
}

function replaceInResource(resource: StackTemplate['Resources'][string], scope: Scope) {
  // An order of creation is of no use in the joined template.
  const { DependsOn: _dependsOn, ...members } = resource;
  return replaceReferences(members, scope) as typeof resource;
}

function replaceReferences(value: unknown, scope: Scope): unknown {
  if (Array.isArray(value)) return value.map((element) => replaceReferences(element, scope));
  if (typeof value !== 'object' || value === null) return value;
  const [only, ...others] = Object.entries(value);
  if (only && others.length === 0) {
    const [name, argument] = only;
    if (name === 'Ref') return scope.ref(String(argument));
    if (name === 'Fn::GetAtt') {
      const [id = '', ...attribute] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.');
      return scope.attribute(id, attribute.join('.'));
    }
    // Only the names of pseudo parameters are the same in each template.
    if (name === 'Fn::Sub' && /\$\{(?!AWS::)/.test(JSON.stringify(argument)))
      throw new Error('A template substitutes a reference in a text, which cannot be joined.');
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaceReferences(member, scope)]));
}
