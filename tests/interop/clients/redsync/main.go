// redsync SERVERS KEY LEASE_MS: tries once to acquire KEY, and prints `held` or `busy`. If it holds KEY, it reads a line, releases
// KEY and prints `released`.
// redsync SERVERS KEY LEASE_MS measure N: acquires N times, and prints the milliseconds of each; the first has to connect.
//
// SERVERS are separated by commas; each is the path of a socket or host:port.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return value
}

func pools(servers string) []redsyncredis.Pool {
	var all []redsyncredis.Pool
	for _, server := range strings.Split(servers, ",") {
		network := "tcp"
		if strings.Contains(server, "/") {
			network = "unix"
		}
		all = append(all, goredis.NewPool(redis.NewClient(&redis.Options{Network: network, Addr: server})))
	}
	return all
}

func measure(mutex *redsync.Mutex, times int) {
	for i := 0; i < times; i++ {
		begun := time.Now()
		if err := mutex.Lock(); err != nil {
			panic(err)
		}
		fmt.Println(time.Since(begun).Milliseconds())
		if _, err := mutex.Unlock(); err != nil {
			panic(err)
		}
	}
}

func main() {
	lease := time.Duration(number(os.Args[3])) * time.Millisecond
	mutex := redsync.New(pools(os.Args[1])...).NewMutex(os.Args[2], redsync.WithTries(1), redsync.WithExpiry(lease))
	if len(os.Args) > 5 {
		measure(mutex, number(os.Args[5]))
		return
	}
	if err := mutex.Lock(); err != nil {
		var taken *redsync.ErrTaken
		if !errors.As(err, &taken) && !errors.Is(err, redsync.ErrFailed) {
			panic(err)
		}
		fmt.Println("busy")
		return
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if ok, err := mutex.Unlock(); !ok {
		panic(err)
	}
	fmt.Println("released")
}
