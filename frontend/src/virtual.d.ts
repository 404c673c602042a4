declare module "virtual:texts/en" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/zh" {
  const texts: Record<string, string>;
  export default texts;
}
