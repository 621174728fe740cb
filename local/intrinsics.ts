export interface TemplateNames {
  /** Value of `{ Ref: … }` for a resource, a parameter or a pseudo parameter. */
  ref(id: string): string;
  /** Value of `{ "Fn::GetAtt": […] }`. */
  attribute(id: string, name: string): string;
}

type Evaluate = (argument: unknown, names: TemplateNames) => unknown;

/** Marks a member that CloudFormation omits (`AWS::NoValue`). */
const noValue = Symbol('AWS::NoValue');

const functions: Readonly<Record<string, Evaluate>> = {
  Ref: (id, names) => (id === 'AWS::NoValue' ? noValue : names.ref(String(id))),
  'Fn::GetAtt': (argument, names) => {
    const [id, ...name] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.');
    return names.attribute(id ?? '', name.join('.'));
  },
  'Fn::Join': (argument, names) => {
    const [separator, parts] = expectList(argument);
    return expectList(resolveIntrinsics(parts, names)).join(String(separator));
  },
  'Fn::Sub': (argument, names) => {
    const [text, ownVariables] = Array.isArray(argument) ? argument : [argument, {}];
    const variables = resolveIntrinsics(ownVariables, names) as Readonly<Record<string, unknown>>;
    return String(text).replace(/\$\{(!?)([^}]+)\}/g, (_all, literal: string, name: string) =>
      literal ? `\${${name}}` : String(variables[name] ?? resolveReference(name, names)),
    );
  },
};

/**
 * Evaluates every CloudFormation intrinsic function in a value. Throws for a function that is not implemented.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/intrinsic-function-reference.html
 */
export function resolveIntrinsics(value: unknown, names: TemplateNames): unknown {
  if (Array.isArray(value))
    return value.map((element) => resolveIntrinsics(element, names)).filter((element) => element !== noValue);
  if (typeof value !== 'object' || value === null) return value;
  const [only, ...others] = Object.entries(value);
  if (only && others.length === 0) {
    const [name, argument] = only;
    const evaluate = functions[name];
    if (evaluate) return evaluate(argument, names);
    if (name.startsWith('Fn::')) throw new Error(`The template uses ${name}, which does not run on this machine.`);
  }
  const members = Object.entries(value).map(([name, member]) => [name, resolveIntrinsics(member, names)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== noValue));
}

function resolveReference(name: string, names: TemplateNames): string {
  const [id, ...attribute] = name.split('.');
  return id !== undefined && attribute.length > 0 ? names.attribute(id, attribute.join('.')) : names.ref(name);
}

function expectList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error('A value in the template is not a list.');
  return value;
}
