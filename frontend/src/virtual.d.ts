declare module "virtual:texts/en" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/zh" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/en/editor" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/en/form" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/zh/editor" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/zh/form" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/en/pages" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/zh/pages" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/en/cron" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/zh/cron" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/en/finder" {
  const texts: Record<string, string>;
  export default texts;
}
declare module "virtual:texts/zh/finder" {
  const texts: Record<string, string>;
  export default texts;
}
