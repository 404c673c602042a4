import { expect, test } from "vitest";
import { SignIns } from "./again";

/** A server that refuses until somebody signs in, and a user whose response the test decides. */
function setUp() {
  let answer: (done: boolean) => void = () => undefined;
  const state = { signedIn: false, asked: 0, requests: 0 };
  const signIns = new SignIns(() => {
    state.asked += 1;
    return new Promise((resolve) => { answer = resolve; });
  });
  const work = () => {
    state.requests += 1;
    return Promise.resolve(state.signedIn ? 200 : 401);
  };
  const request = () => signIns.attempt(work, (status) => status === 401);
  return {
    state, signIns, request,
    signIn: () => {
      state.signedIn = true;
      answer(true);
    },
    decline: () => { answer(false); },
  };
}

/** Lets all promises settle that do not wait for the user. */
const settle = () => new Promise((resolve) => { setTimeout(resolve, 0); });

test("what the session allows is not repeated", async () => {
  const { state, request } = setUp();
  state.signedIn = true;
  expect(await request()).toBe(200);
  expect(state).toMatchObject({ asked: 0, requests: 1 });
});

test("several requests ask once, and each is repeated", async () => {
  const { state, request, signIn } = setUp();
  const all = [request(), request(), request()];
  await settle();
  expect(state.asked).toBe(1);
  signIn();
  expect(await Promise.all(all)).toEqual([200, 200, 200]);
  expect(state).toMatchObject({ asked: 1, requests: 6 });
});

test("a refusal that arrives after the sign-in is repeated without a question", async () => {
  const { state, signIns, request, signIn } = setUp();
  let refuse: (status: number) => void = () => undefined;
  const late = [new Promise<number>((resolve) => { refuse = resolve; }), Promise.resolve(200)];
  const slow = signIns.attempt(() => late.shift() ?? Promise.resolve(500), (status) => status === 401);
  const quick = request();
  await settle();
  signIn();
  expect(await quick).toBe(200);
  refuse(401);
  expect(await slow).toBe(200);
  expect(state.asked).toBe(1);
});

test("who declines gets the refusal, and can still sign in later", async () => {
  const { state, signIns, request, signIn, decline } = setUp();
  const first = request();
  await settle();
  decline();
  expect(await first).toBe(401);
  expect(signIns.declined).toBe(true);
  const second = request();
  await settle();
  signIn();
  expect(await second).toBe(200);
  expect(signIns.declined).toBe(false);
  expect(state.asked).toBe(2);
});
