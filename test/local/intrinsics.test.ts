// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CloudFormation writes its references so.
import { describe, expect, it } from '@jest/globals';
import { resolveIntrinsics, type TemplateNames } from '../../local/intrinsics.ts';

const names: TemplateNames = { ref: (id) => `ref(${id})`, attribute: (id, name) => `${id}.${name}!` };

describe('a template', () => {
  it.each([
    [{ Ref: 'Table' }, 'ref(Table)'],
    [{ 'Fn::GetAtt': ['Table', 'Arn'] }, 'Table.Arn!'],
    [{ 'Fn::GetAtt': 'Table.Stream.Arn' }, 'Table.Stream.Arn!'],
    [{ 'Fn::Join': ['/', ['a', { Ref: 'B' }]] }, 'a/ref(B)'],
    [{ 'Fn::Sub': '${A}-${B.Arn}-${!C}' }, 'ref(A)-B.Arn!-${C}'],
    [{ 'Fn::Sub': ['${own}/${A}', { own: { Ref: 'X' } }] }, 'ref(X)/ref(A)'],
    [{ 'Fn::Select': [1, { 'Fn::Split': [':', 'a:b:c'] }] }, 'b'],
  ])('resolves %j', (value, expected) => {
    expect(resolveIntrinsics(value, names)).toBe(expected);
  });

  it('keeps what is not a function, at any depth', () => {
    expect(resolveIntrinsics({ a: [{ b: { Ref: 'C' }, d: 1 }], e: null }, names)).toEqual({
      a: [{ b: 'ref(C)', d: 1 }],
      e: null,
    });
  });

  it('leaves out what has no value', () => {
    expect(resolveIntrinsics({ a: { Ref: 'AWS::NoValue' }, b: [{ Ref: 'AWS::NoValue' }, 2] }, names)).toEqual({
      b: [2],
    });
  });

  it('is refused when it uses a function that is not known', () => {
    expect(() => resolveIntrinsics({ a: { 'Fn::Cidr': [] } }, names)).toThrow('Fn::Cidr');
  });
});
