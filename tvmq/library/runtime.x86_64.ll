; ecb5c0592395ce72ba4059f541245056c2d5104b6c0f7d106877ba16ec4f720a is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'runtime.c'
source_filename = "runtime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.plan = type { i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32 }
%struct.plan_code = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64 }
%struct.pool = type { i64, i32, i32, i32, i32, i32, i32, ptr, ptr, [0 x i64] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.context = type { ptr, ptr, ptr, ptr, i64, ptr }
%struct.block = type { ptr, ptr }
%struct.loop = type { ptr, ptr, ptr, %struct.group, i32 }
%struct.group = type { ptr, i32 }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.plan_tensor = type { i32, i32, i32, i32, i32, i32, double, i64, [8 x i64] }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.run = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.model_buffer = type { ptr, i64 }
%struct.tensor = type { ptr, i32, i32, i32, i8, i8, i16, ptr, ptr, i64 }
%struct.argument = type { i32, i32, %union.anon }
%union.anon = type { ptr }
%struct.plan_place = type { i32, i32, i8, i8, i16, i32, i64, i64 }

@__TVMBackendAllocWorkspace = hidden local_unnamed_addr constant ptr @allocate, align 8
@__TVMBackendFreeWorkspace = hidden local_unnamed_addr constant ptr @release, align 8
@__TVMBackendParallelLaunch = hidden local_unnamed_addr constant ptr @launch, align 8
@__TVMFFIErrorSetRaisedFromCStr = hidden local_unnamed_addr constant ptr @set_error, align 8
@__TVMFFIErrorSetRaisedFromCStrParts = hidden local_unnamed_addr constant ptr @set_error_parts, align 8
@model_plan = external hidden constant %struct.plan, align 4
@.str = private unnamed_addr constant [9 x i8] c"no error\00", align 1
@.str.1 = private unnamed_addr constant [61 x i8] c"an argument, or the data of a tensor that has bytes, is null\00", align 1
@.str.2 = private unnamed_addr constant [61 x i8] c"an input or output has fewer bytes than its description says\00", align 1
@.str.3 = private unnamed_addr constant [78 x i8] c"data does not begin at a multiple of the alignment that its description names\00", align 1
@.str.4 = private unnamed_addr constant [87 x i8] c"a workspace or the memory of a pool is smaller than workspace_bytes or pool_bytes says\00", align 1
@.str.5 = private unnamed_addr constant [82 x i8] c"a dynamic dimension has a size that the model does not take, or sizes are missing\00", align 1
@.str.6 = private unnamed_addr constant [54 x i8] c"there is no input, output or dimension of this number\00", align 1
@.str.7 = private unnamed_addr constant [82 x i8] c"this processor lacks instructions that the code needs; export it for an older one\00", align 1
@.str.8 = private unnamed_addr constant [44 x i8] c"the function init was not called, or failed\00", align 1
@.str.9 = private unnamed_addr constant [86 x i8] c"the number of threads is 0, above 1 without a launch function, or above 256 of a pool\00", align 1
@.str.10 = private unnamed_addr constant [31 x i8] c"a computation refused its data\00", align 1
@.str.11 = private unnamed_addr constant [70 x i8] c"the library has no code of this name; its description lists the names\00", align 1
@.str.12 = private unnamed_addr constant [81 x i8] c"the program has no function pthread_create, or the system starts no more threads\00", align 1
@.str.13 = private unnamed_addr constant [41 x i8] c"a status that this library does not give\00", align 1
@current = internal thread_local global ptr null, align 8
@chosen = internal unnamed_addr global i32 0, align 4
@reltable.model_status_text = private unnamed_addr constant [13 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.12 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.11 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.10 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.9 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.8 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.7 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.6 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.5 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.4 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.3 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.2 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.1 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32)], align 4

; Function Attrs: nounwind
define i32 @model_init() local_unnamed_addr #0 {
  %1 = tail call fastcc i32 @choose_code(ptr noundef null) #14
  ret i32 %1
}

; Function Attrs: nounwind
define internal fastcc i32 @choose_code(ptr noundef readonly %0) unnamed_addr #0 {
  %2 = alloca [4 x i32], align 16
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = icmp eq ptr %0, null
  %7 = load i32, ptr @model_plan, align 4
  %8 = icmp eq i32 %7, 1
  br i1 %8, label %9, label %106

9:                                                ; preds = %1
  %10 = select i1 %6, i32 -7, i32 -11
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 2), align 4
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %106, label %13

13:                                               ; preds = %9
  %14 = getelementptr inbounds i32, ptr %2, i64 1
  %15 = getelementptr inbounds i32, ptr %2, i64 2
  %16 = getelementptr inbounds i32, ptr %2, i64 3
  %17 = zext i32 %11 to i64
  br label %18

18:                                               ; preds = %13, %102
  %19 = phi i64 [ 0, %13 ], [ %104, %102 ]
  %20 = phi i32 [ %10, %13 ], [ %103, %102 ]
  br i1 %6, label %44, label %21

21:                                               ; preds = %18
  %22 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %19
  %23 = load i32, ptr %22, align 8
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds i8, ptr @model_plan, i64 %24
  %26 = load i8, ptr %0, align 1
  %27 = icmp eq i8 %26, 0
  br i1 %27, label %39, label %28

28:                                               ; preds = %21, %34
  %29 = phi i8 [ %37, %34 ], [ %26, %21 ]
  %30 = phi ptr [ %36, %34 ], [ %25, %21 ]
  %31 = phi ptr [ %35, %34 ], [ %0, %21 ]
  %32 = load i8, ptr %30, align 1
  %33 = icmp eq i8 %29, %32
  br i1 %33, label %34, label %39

34:                                               ; preds = %28
  %35 = getelementptr inbounds i8, ptr %31, i64 1
  %36 = getelementptr inbounds i8, ptr %30, i64 1
  %37 = load i8, ptr %35, align 1
  %38 = icmp eq i8 %37, 0
  br i1 %38, label %39, label %28, !llvm.loop !2

39:                                               ; preds = %28, %34, %21
  %40 = phi ptr [ %25, %21 ], [ %30, %28 ], [ %36, %34 ]
  %41 = phi i8 [ 0, %21 ], [ %29, %28 ], [ 0, %34 ]
  %42 = load i8, ptr %40, align 1
  %43 = icmp eq i8 %41, %42
  br i1 %43, label %44, label %102

44:                                               ; preds = %39, %18
  %45 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %19, i32 1
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds i8, ptr @model_plan, i64 %47
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #15
  %49 = load i32, ptr %48, align 4
  %50 = getelementptr inbounds i32, ptr %48, i64 1
  %51 = load i32, ptr %50, align 4
  %52 = icmp eq i32 %51, 0
  br i1 %52, label %65, label %53

53:                                               ; preds = %44
  %54 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 1, i32 0) #15, !srcloc !4
  %55 = extractvalue { i32, i32, i32, i32 } %54, 2
  %56 = and i32 %55, 134217728
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %61, label %58

58:                                               ; preds = %53
  %59 = tail call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0) #15, !srcloc !5
  %60 = extractvalue { i32, i32 } %59, 0
  br label %61

61:                                               ; preds = %58, %53
  %62 = phi i32 [ %60, %58 ], [ 0, %53 ]
  %63 = and i32 %62, %51
  %64 = icmp eq i32 %63, %51
  br i1 %64, label %65, label %98

65:                                               ; preds = %61, %44
  %66 = zext i32 %49 to i64
  %67 = getelementptr inbounds i32, ptr %48, i64 %66
  %68 = icmp ult i32 %49, 3
  br i1 %68, label %99, label %69

69:                                               ; preds = %65
  %70 = getelementptr inbounds i32, ptr %48, i64 2
  br label %74

71:                                               ; preds = %81
  %72 = getelementptr inbounds i32, ptr %75, i64 4
  %73 = icmp ult ptr %72, %67
  br i1 %73, label %74, label %99, !llvm.loop !6

74:                                               ; preds = %71, %69
  %75 = phi ptr [ %70, %69 ], [ %72, %71 ]
  %76 = load i32, ptr %75, align 4
  %77 = and i32 %76, -2147483648
  %78 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %77, i32 0) #15, !srcloc !4
  %79 = extractvalue { i32, i32, i32, i32 } %78, 0
  %80 = icmp ult i32 %79, %76
  br i1 %80, label %98, label %81

81:                                               ; preds = %74
  %82 = getelementptr inbounds i32, ptr %75, i64 1
  %83 = load i32, ptr %82, align 4
  %84 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %76, i32 %83) #15, !srcloc !4
  %85 = extractvalue { i32, i32, i32, i32 } %84, 0
  %86 = extractvalue { i32, i32, i32, i32 } %84, 1
  %87 = extractvalue { i32, i32, i32, i32 } %84, 2
  %88 = extractvalue { i32, i32, i32, i32 } %84, 3
  store i32 %85, ptr %2, align 16
  store i32 %86, ptr %14, align 4
  store i32 %87, ptr %15, align 8
  store i32 %88, ptr %16, align 4
  %89 = getelementptr inbounds i32, ptr %75, i64 2
  %90 = load i32, ptr %89, align 4
  %91 = zext i32 %90 to i64
  %92 = getelementptr inbounds [4 x i32], ptr %2, i64 0, i64 %91
  %93 = load i32, ptr %92, align 4
  %94 = getelementptr inbounds i32, ptr %75, i64 3
  %95 = load i32, ptr %94, align 4
  %96 = and i32 %95, %93
  %97 = icmp eq i32 %96, %95
  br i1 %97, label %71, label %98

98:                                               ; preds = %81, %74, %61
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #15
  br label %102

99:                                               ; preds = %65, %71
  %100 = trunc i64 %19 to i32
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #15
  %101 = add i32 %100, 1
  store atomic i32 %101, ptr @chosen release, align 4
  br label %106

102:                                              ; preds = %98, %39
  %103 = phi i32 [ %20, %39 ], [ -7, %98 ]
  %104 = add nuw nsw i64 %19, 1
  %105 = icmp eq i64 %104, %17
  br i1 %105, label %106, label %18, !llvm.loop !7

106:                                              ; preds = %102, %9, %99, %1
  %107 = phi i32 [ -7, %1 ], [ 0, %99 ], [ %10, %9 ], [ %103, %102 ]
  ret i32 %107
}

; Function Attrs: nounwind
define i32 @model_select_code(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %5, label %3

3:                                                ; preds = %1
  %4 = tail call fastcc i32 @choose_code(ptr noundef nonnull %0) #14
  br label %5

5:                                                ; preds = %1, %3
  %6 = phi i32 [ %4, %3 ], [ -1, %1 ]
  ret i32 %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @model_pool_bytes(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, -257
  %3 = icmp ult i32 %2, -256
  %4 = zext i32 %0 to i64
  %5 = shl nuw nsw i64 %4, 3
  %6 = add nuw nsw i64 %5, 103
  %7 = and i64 %6, 65472
  %8 = select i1 %3, i64 -9, i64 %7
  ret i64 %8
}

; Function Attrs: nounwind
define i32 @model_pool_start(ptr %0, i64 %1, i32 noundef %2, ptr noundef writeonly %3) local_unnamed_addr #0 {
  %5 = alloca i64, align 8
  %6 = alloca i64, align 8
  %7 = add i32 %2, -257
  %8 = icmp ult i32 %7, -256
  %9 = zext i32 %2 to i64
  %10 = shl nuw nsw i64 %9, 3
  %11 = add nuw nsw i64 %10, 103
  %12 = and i64 %11, 65472
  %13 = select i1 %8, i64 -9, i64 %12
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #15
  store i64 -15032385537, ptr %5, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #15
  %14 = icmp ne ptr %0, null
  %15 = icmp ne ptr %3, null
  %16 = and i1 %14, %15
  br i1 %16, label %17, label %81

17:                                               ; preds = %4
  br i1 %8, label %18, label %20

18:                                               ; preds = %17
  %19 = trunc i64 %13 to i32
  br label %81

20:                                               ; preds = %17
  %21 = ptrtoint ptr %0 to i64
  %22 = and i64 %21, 63
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %24, label %81

24:                                               ; preds = %20
  %25 = icmp ugt i64 %13, %1
  br i1 %25, label %81, label %26

26:                                               ; preds = %24
  %27 = icmp ugt i32 %2, 1
  br i1 %27, label %28, label %31

28:                                               ; preds = %26
  %29 = tail call ptr asm "", "=r,0,~{dirflag},~{fpsr},~{flags}"(ptr @pthread_create) #16, !srcloc !8
  %30 = icmp eq ptr %29, null
  br i1 %30, label %81, label %31

31:                                               ; preds = %28, %26
  %32 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #15, !srcloc !9
  %33 = trunc i64 %32 to i32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(28) %0, i8 0, i64 28, i1 false)
  %34 = getelementptr inbounds i8, ptr %0, i64 28
  store i32 %33, ptr %34, align 4
  %35 = getelementptr inbounds i8, ptr %0, i64 32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %35, i8 0, i64 16, i1 false)
  %36 = ptrtoint ptr %5 to i64
  %37 = ptrtoint ptr %6 to i64
  %38 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %36, i64 %37, i64 8, i64 14) #15, !srcloc !9
  %39 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 5
  %40 = add nsw i32 %2, -1
  %41 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 9
  %42 = load i32, ptr %39, align 8
  %43 = icmp ult i32 %42, %40
  br i1 %43, label %44, label %77

44:                                               ; preds = %31, %50
  %45 = phi i32 [ %52, %50 ], [ %42, %31 ]
  %46 = zext i32 %45 to i64
  %47 = getelementptr inbounds i64, ptr %41, i64 %46
  %48 = call i32 @pthread_create(ptr noundef nonnull %47, ptr noundef null, ptr noundef nonnull @serve, ptr noundef nonnull %0) #17
  %49 = icmp eq i32 %48, 0
  br i1 %49, label %50, label %54

50:                                               ; preds = %44
  %51 = load i32, ptr %39, align 8
  %52 = add i32 %51, 1
  store i32 %52, ptr %39, align 8
  %53 = icmp ult i32 %52, %40
  br i1 %53, label %44, label %77

54:                                               ; preds = %44
  %55 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %37, i64 0, i64 8, i64 14) #15, !srcloc !9
  %56 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %56 release, align 4
  %57 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %58 = atomicrmw add ptr %57, i32 1 release, align 4
  %59 = ptrtoint ptr %57 to i64
  %60 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %59, i64 129, i64 256, i64 0, i64 202) #15, !srcloc !9
  %61 = load i32, ptr %34, align 4
  %62 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #15, !srcloc !9
  %63 = trunc i64 %62 to i32
  %64 = icmp eq i32 %61, %63
  br i1 %64, label %65, label %81

65:                                               ; preds = %54
  %66 = load i32, ptr %39, align 8
  %67 = icmp eq i32 %66, 0
  br i1 %67, label %81, label %68

68:                                               ; preds = %65, %68
  %69 = phi i64 [ %73, %68 ], [ 0, %65 ]
  %70 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 9, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = call i32 @pthread_join(i64 noundef %71, ptr noundef null) #17
  %73 = add nuw nsw i64 %69, 1
  %74 = load i32, ptr %39, align 8
  %75 = zext i32 %74 to i64
  %76 = icmp ult i64 %73, %75
  br i1 %76, label %68, label %81, !llvm.loop !10

77:                                               ; preds = %50, %31
  %78 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %37, i64 0, i64 8, i64 14) #15, !srcloc !9
  store i32 %2, ptr %3, align 8
  %79 = getelementptr inbounds i8, ptr %3, i64 8
  store ptr @launch_in_pool, ptr %79, align 8
  %80 = getelementptr inbounds i8, ptr %3, i64 16
  store ptr %0, ptr %80, align 8
  br label %81

81:                                               ; preds = %68, %65, %54, %28, %24, %20, %4, %77, %18
  %82 = phi i32 [ %19, %18 ], [ 0, %77 ], [ -1, %4 ], [ -3, %20 ], [ -4, %24 ], [ -12, %28 ], [ -12, %54 ], [ -12, %65 ], [ -12, %68 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #15
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #15
  ret i32 %82
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4

declare extern_weak i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef) #5

; Function Attrs: nounwind
define internal ptr @serve(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  %3 = load atomic i32, ptr %2 acquire, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %63

5:                                                ; preds = %1
  %6 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %7 = ptrtoint ptr %6 to i64
  %8 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  %9 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  %10 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  %11 = ptrtoint ptr %10 to i64
  br label %12

12:                                               ; preds = %5, %60
  %13 = phi i32 [ 0, %5 ], [ %31, %60 ]
  br label %19

14:                                               ; preds = %23
  %15 = load atomic i32, ptr %6 acquire, align 4
  %16 = icmp eq i32 %15, %13
  br i1 %16, label %17, label %30

17:                                               ; preds = %14
  %18 = zext i32 %13 to i64
  br label %26

19:                                               ; preds = %23, %12
  %20 = phi i32 [ 0, %12 ], [ %24, %23 ]
  %21 = load atomic i32, ptr %6 acquire, align 4
  %22 = icmp eq i32 %21, %13
  br i1 %22, label %23, label %30

23:                                               ; preds = %19
  tail call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"() #15, !srcloc !11
  %24 = add nuw nsw i32 %20, 1
  %25 = icmp eq i32 %24, 1000
  br i1 %25, label %14, label %19, !llvm.loop !12

26:                                               ; preds = %26, %17
  %27 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %7, i64 128, i64 %18, i64 0, i64 202) #15, !srcloc !9
  %28 = load atomic i32, ptr %6 acquire, align 4
  %29 = icmp eq i32 %28, %13
  br i1 %29, label %26, label %30, !llvm.loop !13

30:                                               ; preds = %19, %26, %14
  %31 = phi i32 [ %15, %14 ], [ %28, %26 ], [ %21, %19 ]
  %32 = load atomic i64, ptr %0 acquire, align 8
  %33 = and i64 %32, 65535
  %34 = lshr i64 %32, 16
  %35 = and i64 %34, 65535
  %36 = icmp ult i64 %33, %35
  br i1 %36, label %37, label %60

37:                                               ; preds = %30, %54
  %38 = phi i64 [ %55, %54 ], [ %32, %30 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %8, align 8
  %45 = load ptr, ptr %9, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #17
  %48 = atomicrmw sub ptr %10, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %11, i64 129, i64 1, i64 0, i64 202) #15, !srcloc !9
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !14

60:                                               ; preds = %54, %30
  %61 = load atomic i32, ptr %2 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %12, label %63, !llvm.loop !15

63:                                               ; preds = %60, %1
  ret ptr null
}

; Function Attrs: nounwind
define internal void @launch_in_pool(ptr noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 3
  %6 = atomicrmw xchg ptr %5, i32 1 acquire, align 4
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %14, label %8

8:                                                ; preds = %4
  %9 = icmp eq i32 %3, 0
  br i1 %9, label %87, label %10

10:                                               ; preds = %8, %10
  %11 = phi i32 [ %12, %10 ], [ 0, %8 ]
  tail call void %1(ptr noundef %2, i32 noundef %11) #17
  %12 = add nuw i32 %11, 1
  %13 = icmp eq i32 %12, %3
  br i1 %13, label %87, label %10, !llvm.loop !16

14:                                               ; preds = %4
  %15 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  store ptr %1, ptr %15, align 8
  %16 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  store ptr %2, ptr %16, align 8
  %17 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  store atomic i32 %3, ptr %17 monotonic, align 4
  %18 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %19 = load i32, ptr %18, align 8
  %20 = add i32 %19, 1
  %21 = zext i32 %20 to i64
  %22 = shl nuw i64 %21, 32
  %23 = zext i32 %3 to i64
  %24 = shl nuw nsw i64 %23, 16
  %25 = or i64 %22, %24
  store atomic i64 %25, ptr %0 release, align 8
  store atomic i32 %20, ptr %18 release, align 8
  %26 = add i32 %3, -1
  %27 = ptrtoint ptr %18 to i64
  %28 = zext i32 %26 to i64
  %29 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %27, i64 129, i64 %28, i64 0, i64 202) #15, !srcloc !9
  %30 = load atomic i64, ptr %0 acquire, align 8
  %31 = and i64 %30, 65535
  %32 = lshr i64 %30, 16
  %33 = and i64 %32, 65535
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %35, label %60

35:                                               ; preds = %14
  %36 = ptrtoint ptr %17 to i64
  br label %37

37:                                               ; preds = %54, %35
  %38 = phi i64 [ %30, %35 ], [ %55, %54 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %15, align 8
  %45 = load ptr, ptr %16, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #17
  %48 = atomicrmw sub ptr %17, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %36, i64 129, i64 1, i64 0, i64 202) #15, !srcloc !9
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !14

60:                                               ; preds = %54, %14
  %61 = load atomic i32, ptr %17 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %86, label %63

63:                                               ; preds = %60
  %64 = ptrtoint ptr %17 to i64
  br label %65

65:                                               ; preds = %63, %83
  %66 = phi i32 [ %61, %63 ], [ %84, %83 ]
  br label %72

67:                                               ; preds = %76
  %68 = load atomic i32, ptr %17 acquire, align 4
  %69 = icmp eq i32 %68, %66
  br i1 %69, label %70, label %83

70:                                               ; preds = %67
  %71 = zext i32 %66 to i64
  br label %79

72:                                               ; preds = %65, %76
  %73 = phi i32 [ %77, %76 ], [ 0, %65 ]
  %74 = load atomic i32, ptr %17 acquire, align 4
  %75 = icmp eq i32 %74, %66
  br i1 %75, label %76, label %83

76:                                               ; preds = %72
  tail call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"() #15, !srcloc !11
  %77 = add nuw nsw i32 %73, 1
  %78 = icmp eq i32 %77, 1000
  br i1 %78, label %67, label %72, !llvm.loop !12

79:                                               ; preds = %79, %70
  %80 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %64, i64 128, i64 %71, i64 0, i64 202) #15, !srcloc !9
  %81 = load atomic i32, ptr %17 acquire, align 4
  %82 = icmp eq i32 %81, %66
  br i1 %82, label %79, label %83, !llvm.loop !13

83:                                               ; preds = %72, %79, %67
  %84 = phi i32 [ %68, %67 ], [ %81, %79 ], [ %74, %72 ]
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %86, label %65, !llvm.loop !17

86:                                               ; preds = %83, %60
  store atomic i32 0, ptr %5 release, align 8
  br label %87

87:                                               ; preds = %10, %8, %86
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: nounwind
define i32 @model_pool_stop(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %37, label %3

3:                                                ; preds = %1
  %4 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 2
  %5 = load ptr, ptr %4, align 8
  %6 = icmp eq ptr %5, null
  br i1 %6, label %37, label %7

7:                                                ; preds = %3
  %8 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = icmp eq ptr %9, @launch_in_pool
  br i1 %10, label %11, label %37

11:                                               ; preds = %7
  %12 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 4
  store atomic i32 1, ptr %12 release, align 4
  %13 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 1
  %14 = atomicrmw add ptr %13, i32 1 release, align 4
  %15 = ptrtoint ptr %13 to i64
  %16 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %15, i64 129, i64 256, i64 0, i64 202) #15, !srcloc !9
  %17 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 6
  %18 = load i32, ptr %17, align 4
  %19 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #15, !srcloc !9
  %20 = trunc i64 %19 to i32
  %21 = icmp eq i32 %18, %20
  br i1 %21, label %22, label %35

22:                                               ; preds = %11
  %23 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 5
  %24 = load i32, ptr %23, align 8
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %35, label %26

26:                                               ; preds = %22, %26
  %27 = phi i64 [ %31, %26 ], [ 0, %22 ]
  %28 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 9, i64 %27
  %29 = load i64, ptr %28, align 8
  %30 = tail call i32 @pthread_join(i64 noundef %29, ptr noundef null) #17
  %31 = add nuw nsw i64 %27, 1
  %32 = load i32, ptr %23, align 8
  %33 = zext i32 %32 to i64
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %26, label %35, !llvm.loop !10

35:                                               ; preds = %26, %11, %22
  store i32 1, ptr %0, align 8
  %36 = getelementptr inbounds i8, ptr %0, i64 4
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(20) %36, i8 0, i64 20, i1 false)
  br label %37

37:                                               ; preds = %7, %1, %3, %35
  %38 = phi i32 [ 0, %35 ], [ -1, %3 ], [ -1, %1 ], [ -9, %7 ]
  ret i32 %38
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal ptr @allocate(i32 %0, i32 %1, i64 noundef %2, i32 %3, i32 %4) #6 {
  %6 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %7 = load ptr, ptr %6, align 8
  %8 = icmp eq ptr %7, null
  br i1 %8, label %29, label %9

9:                                                ; preds = %5
  %10 = getelementptr inbounds %struct.context, ptr %7, i64 0, i32 1
  %11 = load ptr, ptr %10, align 8
  %12 = load ptr, ptr %7, align 8
  %13 = ptrtoint ptr %11 to i64
  %14 = ptrtoint ptr %12 to i64
  %15 = sub i64 %13, %14
  %16 = icmp ult i64 %15, %2
  %17 = sub nsw i64 %15, %2
  %18 = icmp slt i64 %17, 128
  %19 = select i1 %16, i1 true, i1 %18
  br i1 %19, label %29, label %20

20:                                               ; preds = %9
  %21 = getelementptr inbounds i8, ptr %12, i64 64
  %22 = getelementptr inbounds i8, ptr %12, i64 48
  store ptr %21, ptr %22, align 8
  %23 = load ptr, ptr %7, align 8
  %24 = getelementptr inbounds i8, ptr %12, i64 56
  store ptr %23, ptr %24, align 8
  %25 = add nsw i64 %2, 63
  %26 = sdiv i64 %25, 64
  %27 = shl nsw i64 %26, 6
  %28 = getelementptr inbounds i8, ptr %21, i64 %27
  store ptr %28, ptr %7, align 8
  br label %29

29:                                               ; preds = %5, %9, %20
  %30 = phi ptr [ %21, %20 ], [ null, %9 ], [ null, %5 ]
  ret ptr %30
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal i32 @release(i32 %0, i32 %1, ptr noundef readonly %2) #6 {
  %4 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %5 = load ptr, ptr %4, align 8
  %6 = icmp ne ptr %5, null
  %7 = icmp ne ptr %2, null
  %8 = and i1 %7, %6
  br i1 %8, label %9, label %12

9:                                                ; preds = %3
  %10 = getelementptr %struct.block, ptr %2, i64 -1, i32 1
  %11 = load ptr, ptr %10, align 8
  store ptr %11, ptr %5, align 8
  br label %12

12:                                               ; preds = %9, %3
  ret i32 0
}

; Function Attrs: nounwind
define internal i32 @launch(ptr noundef %0, ptr noundef %1, i32 noundef %2) #0 {
  %4 = alloca %struct.loop, align 8
  %5 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %6 = load ptr, ptr %5, align 8
  %7 = icmp eq ptr %6, null
  br i1 %7, label %18, label %8

8:                                                ; preds = %3
  %9 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %10 = load ptr, ptr %9, align 8
  %11 = icmp eq ptr %10, null
  br i1 %11, label %18, label %12

12:                                               ; preds = %8
  %13 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %18, label %16

16:                                               ; preds = %12
  %17 = load i32, ptr %14, align 8
  br label %18

18:                                               ; preds = %3, %8, %12, %16
  %19 = phi i32 [ %17, %16 ], [ 1, %12 ], [ 1, %8 ], [ 1, %3 ]
  call void @llvm.lifetime.start.p0(i64 48, ptr nonnull %4) #15
  store ptr %6, ptr %4, align 8
  %20 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 1
  store ptr %0, ptr %20, align 8
  %21 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 2
  store ptr %1, ptr %21, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3, i32 1
  %24 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 4
  store i32 0, ptr %24, align 8
  %25 = icmp sgt i32 %2, 0
  %26 = icmp ugt i32 %19, %2
  %27 = select i1 %25, i1 %26, i1 false
  %28 = select i1 %27, i32 %2, i32 %19
  store i32 %28, ptr %23, align 8
  br i1 %7, label %64, label %29

29:                                               ; preds = %18
  %30 = icmp eq i32 %28, 1
  br i1 %30, label %31, label %53

31:                                               ; preds = %29
  %32 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %33, null
  br i1 %34, label %35, label %37

35:                                               ; preds = %31
  %36 = call i32 %0(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %1) #17
  br label %64

37:                                               ; preds = %31
  %38 = load ptr, ptr %5, align 8
  %39 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 3
  %40 = load ptr, ptr %39, align 8
  store ptr %33, ptr %40, align 8
  %41 = load ptr, ptr %4, align 8
  %42 = getelementptr inbounds %struct.context, ptr %41, i64 0, i32 4
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds i8, ptr %33, i64 %43
  %45 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 1
  store ptr %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 2
  store ptr null, ptr %46, align 8
  store ptr %40, ptr %5, align 8
  %47 = load ptr, ptr %20, align 8
  %48 = load ptr, ptr %21, align 8
  %49 = call i32 %47(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %48) #17
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %52, label %51

51:                                               ; preds = %37
  store atomic i32 1, ptr %24 monotonic, align 8
  br label %52

52:                                               ; preds = %37, %51
  store ptr %38, ptr %5, align 8
  br label %60

53:                                               ; preds = %29
  %54 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %55 = load ptr, ptr %54, align 8
  %56 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 1
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 2
  %59 = load ptr, ptr %58, align 8
  call void %57(ptr noundef %59, ptr noundef nonnull @run_task, ptr noundef nonnull %4, i32 noundef %28) #17
  br label %60

60:                                               ; preds = %53, %52
  %61 = load i32, ptr %24, align 8
  %62 = icmp ne i32 %61, 0
  %63 = sext i1 %62 to i32
  br label %64

64:                                               ; preds = %18, %60, %35
  %65 = phi i32 [ %63, %60 ], [ %36, %35 ], [ -1, %18 ]
  call void @llvm.lifetime.end.p0(i64 48, ptr nonnull %4) #15
  ret i32 %65
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error(ptr nocapture %0, ptr nocapture %1) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error_parts(ptr nocapture %0, ptr nocapture %1, i32 %2) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none)
define i32 @model_describe(ptr noundef writeonly %0) local_unnamed_addr #7 {
  %2 = load atomic i32, ptr @chosen acquire, align 4
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = add i32 %2, -1
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %7
  %9 = icmp eq ptr %0, null
  br i1 %9, label %39, label %10

10:                                               ; preds = %1
  %11 = icmp eq i32 %2, 0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 8), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  store ptr %14, ptr %0, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 9), align 4
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds i8, ptr @model_plan, i64 %16
  %18 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 1
  store ptr %17, ptr %18, align 8
  %19 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 10), align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds i8, ptr @model_plan, i64 %20
  %22 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 2
  store ptr %21, ptr %22, align 8
  br i1 %11, label %27, label %23

23:                                               ; preds = %10
  %24 = load i32, ptr %8, align 8
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i8, ptr @model_plan, i64 %25
  br label %27

27:                                               ; preds = %10, %23
  %28 = phi ptr [ %26, %23 ], [ null, %10 ]
  %29 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 3
  store ptr %28, ptr %29, align 8
  %30 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 11), align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr @model_plan, i64 %31
  %33 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 4
  store ptr %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 5
  store i32 1, ptr %34, align 8
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %36 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 6
  store i32 %35, ptr %36, align 4
  %37 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 7
  %38 = load <2 x i32>, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  store <2 x i32> %38, ptr %37, align 8
  br label %39

39:                                               ; preds = %1, %27
  %40 = phi i32 [ 0, %27 ], [ -1, %1 ]
  ret i32 %40
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: write)
define i32 @model_input(i32 noundef %0, ptr nocapture noundef readnone %1, ptr noundef writeonly %2) local_unnamed_addr #8 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %124

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = icmp eq ptr %2, null
  br i1 %12, label %124, label %13

13:                                               ; preds = %6
  %14 = load i32, ptr %11, align 8
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  store ptr %16, ptr %2, align 8
  %17 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %20, ptr %21, align 8
  %22 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 2
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %23, ptr %24, align 8
  %25 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 3
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %26, ptr %27, align 4
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 0
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 1
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 2
  %35 = load i64, ptr %34, align 8
  %36 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %35, ptr %36, align 8
  %37 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 3
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %38, ptr %39, align 8
  %40 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 4
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %41, ptr %42, align 8
  %43 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 5
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 6
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %47, ptr %48, align 8
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 7
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %50, ptr %51, align 8
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 4
  %53 = load i32, ptr %52, align 8
  %54 = zext i32 %53 to i64
  %55 = icmp eq i32 %23, 0
  br i1 %55, label %115, label %56

56:                                               ; preds = %13
  %57 = zext i32 %23 to i64
  %58 = and i64 %57, 7
  %59 = icmp ult i32 %23, 8
  br i1 %59, label %100, label %60

60:                                               ; preds = %56
  %61 = and i64 %57, 4294967288
  br label %62

62:                                               ; preds = %62, %60
  %63 = phi i64 [ 0, %60 ], [ %97, %62 ]
  %64 = phi i64 [ %54, %60 ], [ %96, %62 ]
  %65 = phi i64 [ 0, %60 ], [ %98, %62 ]
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %63
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = or i64 %63, 1
  %70 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = or i64 %63, 2
  %74 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = or i64 %63, 3
  %78 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = or i64 %63, 4
  %82 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %80
  %85 = or i64 %63, 5
  %86 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = mul nsw i64 %87, %84
  %89 = or i64 %63, 6
  %90 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %89
  %91 = load i64, ptr %90, align 8
  %92 = mul nsw i64 %91, %88
  %93 = or i64 %63, 7
  %94 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %93
  %95 = load i64, ptr %94, align 8
  %96 = mul nsw i64 %95, %92
  %97 = add nuw nsw i64 %63, 8
  %98 = add i64 %65, 8
  %99 = icmp eq i64 %98, %61
  br i1 %99, label %100, label %62, !llvm.loop !18

100:                                              ; preds = %62, %56
  %101 = phi i64 [ undef, %56 ], [ %96, %62 ]
  %102 = phi i64 [ 0, %56 ], [ %97, %62 ]
  %103 = phi i64 [ %54, %56 ], [ %96, %62 ]
  %104 = icmp eq i64 %58, 0
  br i1 %104, label %115, label %105

105:                                              ; preds = %100, %105
  %106 = phi i64 [ %112, %105 ], [ %102, %100 ]
  %107 = phi i64 [ %111, %105 ], [ %103, %100 ]
  %108 = phi i64 [ %113, %105 ], [ 0, %100 ]
  %109 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %106
  %110 = load i64, ptr %109, align 8
  %111 = mul nsw i64 %110, %107
  %112 = add nuw nsw i64 %106, 1
  %113 = add i64 %108, 1
  %114 = icmp eq i64 %113, %58
  br i1 %114, label %115, label %105, !llvm.loop !19

115:                                              ; preds = %100, %105, %13
  %116 = phi i64 [ %54, %13 ], [ %101, %100 ], [ %111, %105 ]
  %117 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %116, ptr %117, align 8
  %118 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 6
  %119 = load double, ptr %118, align 8
  %120 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %119, ptr %120, align 8
  %121 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 7
  %122 = load i64, ptr %121, align 8
  %123 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %122, ptr %123, align 8
  br label %124

124:                                              ; preds = %115, %6, %3
  %125 = phi i32 [ -6, %3 ], [ 0, %115 ], [ -1, %6 ]
  ret i32 %125
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: write)
define i32 @model_output(i32 noundef %0, ptr nocapture noundef readnone %1, ptr noundef writeonly %2) local_unnamed_addr #8 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %124

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = icmp eq ptr %2, null
  br i1 %12, label %124, label %13

13:                                               ; preds = %6
  %14 = load i32, ptr %11, align 8
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  store ptr %16, ptr %2, align 8
  %17 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %20, ptr %21, align 8
  %22 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 2
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %23, ptr %24, align 8
  %25 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 3
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %26, ptr %27, align 4
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 0
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 1
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 2
  %35 = load i64, ptr %34, align 8
  %36 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %35, ptr %36, align 8
  %37 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 3
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %38, ptr %39, align 8
  %40 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 4
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %41, ptr %42, align 8
  %43 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 5
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 6
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %47, ptr %48, align 8
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 7
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %50, ptr %51, align 8
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 4
  %53 = load i32, ptr %52, align 8
  %54 = zext i32 %53 to i64
  %55 = icmp eq i32 %23, 0
  br i1 %55, label %115, label %56

56:                                               ; preds = %13
  %57 = zext i32 %23 to i64
  %58 = and i64 %57, 7
  %59 = icmp ult i32 %23, 8
  br i1 %59, label %100, label %60

60:                                               ; preds = %56
  %61 = and i64 %57, 4294967288
  br label %62

62:                                               ; preds = %62, %60
  %63 = phi i64 [ 0, %60 ], [ %97, %62 ]
  %64 = phi i64 [ %54, %60 ], [ %96, %62 ]
  %65 = phi i64 [ 0, %60 ], [ %98, %62 ]
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %63
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = or i64 %63, 1
  %70 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = or i64 %63, 2
  %74 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = or i64 %63, 3
  %78 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = or i64 %63, 4
  %82 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %80
  %85 = or i64 %63, 5
  %86 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = mul nsw i64 %87, %84
  %89 = or i64 %63, 6
  %90 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %89
  %91 = load i64, ptr %90, align 8
  %92 = mul nsw i64 %91, %88
  %93 = or i64 %63, 7
  %94 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %93
  %95 = load i64, ptr %94, align 8
  %96 = mul nsw i64 %95, %92
  %97 = add nuw nsw i64 %63, 8
  %98 = add i64 %65, 8
  %99 = icmp eq i64 %98, %61
  br i1 %99, label %100, label %62, !llvm.loop !18

100:                                              ; preds = %62, %56
  %101 = phi i64 [ undef, %56 ], [ %96, %62 ]
  %102 = phi i64 [ 0, %56 ], [ %97, %62 ]
  %103 = phi i64 [ %54, %56 ], [ %96, %62 ]
  %104 = icmp eq i64 %58, 0
  br i1 %104, label %115, label %105

105:                                              ; preds = %100, %105
  %106 = phi i64 [ %112, %105 ], [ %102, %100 ]
  %107 = phi i64 [ %111, %105 ], [ %103, %100 ]
  %108 = phi i64 [ %113, %105 ], [ 0, %100 ]
  %109 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %106
  %110 = load i64, ptr %109, align 8
  %111 = mul nsw i64 %110, %107
  %112 = add nuw nsw i64 %106, 1
  %113 = add i64 %108, 1
  %114 = icmp eq i64 %113, %58
  br i1 %114, label %115, label %105, !llvm.loop !21

115:                                              ; preds = %100, %105, %13
  %116 = phi i64 [ %54, %13 ], [ %101, %100 ], [ %111, %105 ]
  %117 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %116, ptr %117, align 8
  %118 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 6
  %119 = load double, ptr %118, align 8
  %120 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %119, ptr %120, align 8
  %121 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 7
  %122 = load i64, ptr %121, align 8
  %123 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %122, ptr %123, align 8
  br label %124

124:                                              ; preds = %115, %6, %3
  %125 = phi i32 [ -6, %3 ], [ 0, %115 ], [ -1, %6 ]
  ret i32 %125
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define nonnull ptr @model_status_text(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, 12
  %3 = icmp ult i32 %2, 13
  br i1 %3, label %4, label %8

4:                                                ; preds = %1
  %5 = sext i32 %2 to i64
  %6 = shl i64 %5, 2
  %7 = call ptr @llvm.load.relative.i64(ptr @reltable.model_status_text, i64 %6)
  br label %8

8:                                                ; preds = %1, %4
  %9 = phi ptr [ %7, %4 ], [ @.str.13, %1 ]
  ret ptr %9
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: read, inaccessiblemem: none)
define i64 @model_workspace_bytes(ptr nocapture noundef readnone %0, i32 noundef %1) local_unnamed_addr #9 {
  %3 = load atomic i32, ptr @chosen acquire, align 4
  %4 = icmp eq i32 %3, 0
  %5 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = add i32 %3, -1
  %9 = zext i32 %8 to i64
  %10 = getelementptr inbounds %struct.plan_code, ptr %7, i64 %9
  %11 = select i1 %4, ptr null, ptr %10
  br i1 %4, label %47, label %12

12:                                               ; preds = %2
  %13 = icmp eq i32 %1, 0
  br i1 %13, label %47, label %14

14:                                               ; preds = %12
  %15 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 6
  %16 = load i32, ptr %15, align 8
  %17 = zext i32 %16 to i64
  %18 = mul nuw nsw i64 %17, 48
  %19 = add nuw nsw i64 %18, 63
  %20 = and i64 %19, 549755813824
  %21 = shl nuw nsw i64 %17, 4
  %22 = add nuw nsw i64 %21, 63
  %23 = and i64 %22, 137438953408
  %24 = zext i32 %1 to i64
  %25 = mul nuw nsw i64 %24, 48
  %26 = add nuw nsw i64 %25, 111
  %27 = and i64 %26, 549755813824
  %28 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 8
  %29 = load i64, ptr %28, align 8
  %30 = add nsw i64 %29, 63
  %31 = sdiv i64 %30, 64
  %32 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 9
  %33 = load i64, ptr %32, align 8
  %34 = add nsw i64 %33, 63
  %35 = sdiv i64 %34, 64
  %36 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 10
  %37 = load i64, ptr %36, align 8
  %38 = add nsw i64 %37, 63
  %39 = sdiv i64 %38, 64
  %40 = mul i64 %39, %24
  %41 = add nsw i64 %35, %31
  %42 = add i64 %41, %40
  %43 = shl i64 %42, 6
  %44 = add nuw nsw i64 %23, %27
  %45 = add nuw nsw i64 %44, %20
  %46 = add i64 %45, %43
  br label %47

47:                                               ; preds = %14, %12, %2
  %48 = phi i64 [ -8, %2 ], [ %46, %14 ], [ -9, %12 ]
  ret i64 %48
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read)
define internal fastcc i64 @workspace_bytes(ptr nocapture noundef readonly %0, i32 noundef %1) unnamed_addr #10 {
  %3 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 6
  %4 = load i32, ptr %3, align 8
  %5 = zext i32 %4 to i64
  %6 = mul nuw nsw i64 %5, 48
  %7 = add nuw nsw i64 %6, 63
  %8 = and i64 %7, 549755813824
  %9 = shl nuw nsw i64 %5, 4
  %10 = add nuw nsw i64 %9, 63
  %11 = and i64 %10, 137438953408
  %12 = zext i32 %1 to i64
  %13 = mul nuw nsw i64 %12, 48
  %14 = add nuw nsw i64 %13, 111
  %15 = and i64 %14, 549755813824
  %16 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 8
  %17 = load i64, ptr %16, align 8
  %18 = add nsw i64 %17, 63
  %19 = sdiv i64 %18, 64
  %20 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 9
  %21 = load i64, ptr %20, align 8
  %22 = add nsw i64 %21, 63
  %23 = sdiv i64 %22, 64
  %24 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 10
  %25 = load i64, ptr %24, align 8
  %26 = add nsw i64 %25, 63
  %27 = sdiv i64 %26, 64
  %28 = mul i64 %27, %12
  %29 = add nsw i64 %23, %19
  %30 = add i64 %29, %28
  %31 = shl i64 %30, 6
  %32 = add nuw nsw i64 %11, %15
  %33 = add nuw nsw i64 %32, %8
  %34 = add i64 %33, %31
  ret i64 %34
}

; Function Attrs: nounwind
define i32 @model_run(ptr nocapture noundef readnone %0, ptr noundef %1, ptr noundef %2, ptr %3, i64 %4, ptr noundef %5) local_unnamed_addr #0 {
  %7 = alloca %struct.run, align 8
  call void @llvm.lifetime.start.p0(i64 64, ptr nonnull %7) #15
  %8 = load atomic i32, ptr @chosen acquire, align 4
  %9 = icmp eq i32 %8, 0
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %11 = zext i32 %10 to i64
  %12 = getelementptr inbounds i8, ptr @model_plan, i64 %11
  %13 = add i32 %8, -1
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds %struct.plan_code, ptr %12, i64 %14
  %16 = select i1 %9, ptr null, ptr %15
  store ptr %16, ptr %7, align 8
  %17 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 1
  store ptr %1, ptr %17, align 8
  %18 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 2
  store ptr %2, ptr %18, align 8
  %19 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 3
  store ptr null, ptr %19, align 8
  %20 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 4
  store ptr null, ptr %20, align 8
  %21 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 5
  store ptr null, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 6
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 7
  store ptr null, ptr %23, align 8
  br i1 %9, label %222, label %24

24:                                               ; preds = %6
  %25 = icmp eq ptr %5, null
  br i1 %25, label %32, label %26

26:                                               ; preds = %24
  %27 = load i32, ptr %5, align 8
  switch i32 %27, label %28 [
    i32 0, label %222
    i32 1, label %32
  ]

28:                                               ; preds = %26
  %29 = getelementptr inbounds %struct.model_threads, ptr %5, i64 0, i32 1
  %30 = load ptr, ptr %29, align 8
  %31 = icmp eq ptr %30, null
  br i1 %31, label %222, label %32

32:                                               ; preds = %26, %28, %24
  %33 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %34 = zext i32 %33 to i64
  %35 = getelementptr inbounds i8, ptr @model_plan, i64 %34
  %36 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %37 = icmp eq i32 %36, 0
  %38 = icmp ne ptr %1, null
  %39 = xor i1 %38, true
  %40 = or i1 %37, %39
  br i1 %40, label %115, label %41

41:                                               ; preds = %32
  %42 = zext i32 %36 to i64
  br label %46

43:                                               ; preds = %108
  %44 = add nuw nsw i64 %47, 1
  %45 = icmp eq i64 %44, %42
  br i1 %45, label %117, label %46, !llvm.loop !22

46:                                               ; preds = %43, %41
  %47 = phi i64 [ 0, %41 ], [ %44, %43 ]
  %48 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 4
  %49 = load i32, ptr %48, align 8
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 2
  %52 = load i32, ptr %51, align 8
  %53 = icmp eq i32 %52, 0
  br i1 %53, label %97, label %54

54:                                               ; preds = %46
  %55 = zext i32 %52 to i64
  %56 = and i64 %55, 3
  %57 = icmp ult i32 %52, 4
  br i1 %57, label %82, label %58

58:                                               ; preds = %54
  %59 = and i64 %55, 4294967292
  br label %60

60:                                               ; preds = %60, %58
  %61 = phi i64 [ 0, %58 ], [ %79, %60 ]
  %62 = phi i64 [ %50, %58 ], [ %78, %60 ]
  %63 = phi i64 [ 0, %58 ], [ %80, %60 ]
  %64 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 8, i64 %61
  %65 = load i64, ptr %64, align 8
  %66 = mul nsw i64 %65, %62
  %67 = or i64 %61, 1
  %68 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 8, i64 %67
  %69 = load i64, ptr %68, align 8
  %70 = mul nsw i64 %69, %66
  %71 = or i64 %61, 2
  %72 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 8, i64 %71
  %73 = load i64, ptr %72, align 8
  %74 = mul nsw i64 %73, %70
  %75 = or i64 %61, 3
  %76 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 8, i64 %75
  %77 = load i64, ptr %76, align 8
  %78 = mul nsw i64 %77, %74
  %79 = add nuw nsw i64 %61, 4
  %80 = add i64 %63, 4
  %81 = icmp eq i64 %80, %59
  br i1 %81, label %82, label %60, !llvm.loop !18

82:                                               ; preds = %60, %54
  %83 = phi i64 [ undef, %54 ], [ %78, %60 ]
  %84 = phi i64 [ 0, %54 ], [ %79, %60 ]
  %85 = phi i64 [ %50, %54 ], [ %78, %60 ]
  %86 = icmp eq i64 %56, 0
  br i1 %86, label %97, label %87

87:                                               ; preds = %82, %87
  %88 = phi i64 [ %94, %87 ], [ %84, %82 ]
  %89 = phi i64 [ %93, %87 ], [ %85, %82 ]
  %90 = phi i64 [ %95, %87 ], [ 0, %82 ]
  %91 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 8, i64 %88
  %92 = load i64, ptr %91, align 8
  %93 = mul nsw i64 %92, %89
  %94 = add nuw nsw i64 %88, 1
  %95 = add i64 %90, 1
  %96 = icmp eq i64 %95, %56
  br i1 %96, label %97, label %87, !llvm.loop !23

97:                                               ; preds = %82, %87, %46
  %98 = phi i64 [ %50, %46 ], [ %83, %82 ], [ %93, %87 ]
  %99 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %47, i32 1
  %100 = load i64, ptr %99, align 8
  %101 = icmp ult i64 %100, %98
  br i1 %101, label %222, label %102

102:                                              ; preds = %97
  %103 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %47
  %104 = icmp ne i64 %98, 0
  %105 = load ptr, ptr %103, align 8
  %106 = icmp eq ptr %105, null
  %107 = select i1 %104, i1 %106, i1 false
  br i1 %107, label %222, label %108

108:                                              ; preds = %102
  %109 = ptrtoint ptr %105 to i64
  %110 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 %47, i32 3
  %111 = load i32, ptr %110, align 4
  %112 = zext i32 %111 to i64
  %113 = urem i64 %109, %112
  %114 = icmp eq i64 %113, 0
  br i1 %114, label %43, label %222

115:                                              ; preds = %32
  %116 = or i1 %38, %37
  br i1 %116, label %117, label %222

117:                                              ; preds = %43, %115
  %118 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %119 = zext i32 %118 to i64
  %120 = getelementptr inbounds i8, ptr @model_plan, i64 %119
  %121 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %122 = icmp eq i32 %121, 0
  %123 = icmp ne ptr %2, null
  %124 = xor i1 %123, true
  %125 = or i1 %122, %124
  br i1 %125, label %200, label %126

126:                                              ; preds = %117
  %127 = zext i32 %121 to i64
  br label %131

128:                                              ; preds = %193
  %129 = add nuw nsw i64 %132, 1
  %130 = icmp eq i64 %129, %127
  br i1 %130, label %204, label %131, !llvm.loop !22

131:                                              ; preds = %128, %126
  %132 = phi i64 [ 0, %126 ], [ %129, %128 ]
  %133 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 4
  %134 = load i32, ptr %133, align 8
  %135 = zext i32 %134 to i64
  %136 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 2
  %137 = load i32, ptr %136, align 8
  %138 = icmp eq i32 %137, 0
  br i1 %138, label %182, label %139

139:                                              ; preds = %131
  %140 = zext i32 %137 to i64
  %141 = and i64 %140, 3
  %142 = icmp ult i32 %137, 4
  br i1 %142, label %167, label %143

143:                                              ; preds = %139
  %144 = and i64 %140, 4294967292
  br label %145

145:                                              ; preds = %145, %143
  %146 = phi i64 [ 0, %143 ], [ %164, %145 ]
  %147 = phi i64 [ %135, %143 ], [ %163, %145 ]
  %148 = phi i64 [ 0, %143 ], [ %165, %145 ]
  %149 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 8, i64 %146
  %150 = load i64, ptr %149, align 8
  %151 = mul nsw i64 %150, %147
  %152 = or i64 %146, 1
  %153 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 8, i64 %152
  %154 = load i64, ptr %153, align 8
  %155 = mul nsw i64 %154, %151
  %156 = or i64 %146, 2
  %157 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 8, i64 %156
  %158 = load i64, ptr %157, align 8
  %159 = mul nsw i64 %158, %155
  %160 = or i64 %146, 3
  %161 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 8, i64 %160
  %162 = load i64, ptr %161, align 8
  %163 = mul nsw i64 %162, %159
  %164 = add nuw nsw i64 %146, 4
  %165 = add i64 %148, 4
  %166 = icmp eq i64 %165, %144
  br i1 %166, label %167, label %145, !llvm.loop !18

167:                                              ; preds = %145, %139
  %168 = phi i64 [ undef, %139 ], [ %163, %145 ]
  %169 = phi i64 [ 0, %139 ], [ %164, %145 ]
  %170 = phi i64 [ %135, %139 ], [ %163, %145 ]
  %171 = icmp eq i64 %141, 0
  br i1 %171, label %182, label %172

172:                                              ; preds = %167, %172
  %173 = phi i64 [ %179, %172 ], [ %169, %167 ]
  %174 = phi i64 [ %178, %172 ], [ %170, %167 ]
  %175 = phi i64 [ %180, %172 ], [ 0, %167 ]
  %176 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 8, i64 %173
  %177 = load i64, ptr %176, align 8
  %178 = mul nsw i64 %177, %174
  %179 = add nuw nsw i64 %173, 1
  %180 = add i64 %175, 1
  %181 = icmp eq i64 %180, %141
  br i1 %181, label %182, label %172, !llvm.loop !24

182:                                              ; preds = %167, %172, %131
  %183 = phi i64 [ %135, %131 ], [ %168, %167 ], [ %178, %172 ]
  %184 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %132, i32 1
  %185 = load i64, ptr %184, align 8
  %186 = icmp ult i64 %185, %183
  br i1 %186, label %222, label %187

187:                                              ; preds = %182
  %188 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %132
  %189 = icmp ne i64 %183, 0
  %190 = load ptr, ptr %188, align 8
  %191 = icmp eq ptr %190, null
  %192 = select i1 %189, i1 %191, i1 false
  br i1 %192, label %222, label %193

193:                                              ; preds = %187
  %194 = ptrtoint ptr %190 to i64
  %195 = getelementptr inbounds %struct.plan_tensor, ptr %120, i64 %132, i32 3
  %196 = load i32, ptr %195, align 4
  %197 = zext i32 %196 to i64
  %198 = urem i64 %194, %197
  %199 = icmp eq i64 %198, 0
  br i1 %199, label %128, label %222

200:                                              ; preds = %117
  %201 = or i1 %123, %122
  %202 = icmp ne ptr %3, null
  %203 = select i1 %201, i1 %202, i1 false
  br i1 %203, label %206, label %222

204:                                              ; preds = %128
  %205 = icmp eq ptr %3, null
  br i1 %205, label %222, label %206

206:                                              ; preds = %200, %204
  %207 = ptrtoint ptr %3 to i64
  %208 = and i64 %207, 63
  %209 = icmp eq i64 %208, 0
  br i1 %209, label %210, label %222

210:                                              ; preds = %206
  br i1 %25, label %213, label %211

211:                                              ; preds = %210
  %212 = load i32, ptr %5, align 8
  br label %213

213:                                              ; preds = %210, %211
  %214 = phi i32 [ %212, %211 ], [ 1, %210 ]
  %215 = tail call fastcc i64 @workspace_bytes(ptr noundef %16, i32 noundef %214) #14
  %216 = icmp ugt i64 %215, %4
  br i1 %216, label %222, label %217

217:                                              ; preds = %213
  call fastcc void @divide_workspace(ptr noundef nonnull %7, ptr noundef nonnull %3, ptr noundef %5) #14
  %218 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %219 = load ptr, ptr %218, align 8
  %220 = load ptr, ptr %23, align 8
  store ptr %220, ptr %218, align 8
  %221 = call fastcc i32 @run_steps(ptr noundef nonnull %7) #14
  store ptr %219, ptr %218, align 8
  br label %222

222:                                              ; preds = %102, %108, %97, %187, %193, %182, %213, %206, %204, %200, %115, %28, %26, %6, %217
  %223 = phi i32 [ %221, %217 ], [ -8, %6 ], [ -9, %26 ], [ -9, %28 ], [ -1, %115 ], [ -1, %200 ], [ -1, %204 ], [ -3, %206 ], [ -4, %213 ], [ -2, %182 ], [ -3, %193 ], [ -1, %187 ], [ -2, %97 ], [ -3, %108 ], [ -1, %102 ]
  call void @llvm.lifetime.end.p0(i64 64, ptr nonnull %7) #15
  ret i32 %223
}

; Function Attrs: nofree nosync nounwind memory(readwrite, inaccessiblemem: none)
define internal fastcc void @divide_workspace(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2) unnamed_addr #11 {
  %4 = load ptr, ptr %0, align 8
  %5 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 6
  %6 = load i32, ptr %5, align 8
  %7 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  store ptr %1, ptr %7, align 8
  %8 = zext i32 %6 to i64
  %9 = mul nuw nsw i64 %8, 48
  %10 = add nuw nsw i64 %9, 63
  %11 = and i64 %10, 549755813824
  %12 = getelementptr inbounds i8, ptr %1, i64 %11
  %13 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  store ptr %12, ptr %13, align 8
  %14 = shl nuw nsw i64 %8, 4
  %15 = add nuw nsw i64 %14, 63
  %16 = and i64 %15, 137438953408
  %17 = getelementptr inbounds i8, ptr %12, i64 %16
  %18 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  store ptr %17, ptr %18, align 8
  %19 = icmp eq ptr %2, null
  br i1 %19, label %26, label %20

20:                                               ; preds = %3
  %21 = load i32, ptr %2, align 8
  %22 = zext i32 %21 to i64
  %23 = mul nuw nsw i64 %22, 48
  %24 = add nuw nsw i64 %23, 111
  %25 = and i64 %24, 549755813824
  br label %26

26:                                               ; preds = %3, %20
  %27 = phi i64 [ %25, %20 ], [ 128, %3 ]
  %28 = getelementptr inbounds i8, ptr %17, i64 %27
  %29 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  store ptr %28, ptr %29, align 8
  %30 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 8
  %31 = load i64, ptr %30, align 8
  %32 = add nsw i64 %31, 63
  %33 = sdiv i64 %32, 64
  %34 = shl nsw i64 %33, 6
  %35 = getelementptr inbounds i8, ptr %28, i64 %34
  %36 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  store ptr %35, ptr %36, align 8
  %37 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 9
  %38 = load i64, ptr %37, align 8
  %39 = add nsw i64 %38, 63
  %40 = sdiv i64 %39, 64
  %41 = shl nsw i64 %40, 6
  %42 = getelementptr inbounds i8, ptr %35, i64 %41
  %43 = getelementptr inbounds %struct.context, ptr %17, i64 1
  %44 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 10
  %45 = load i64, ptr %44, align 8
  %46 = add nsw i64 %45, 63
  %47 = sdiv i64 %46, 64
  %48 = shl nsw i64 %47, 6
  store ptr %35, ptr %17, align 8
  %49 = getelementptr inbounds i8, ptr %17, i64 8
  store ptr %42, ptr %49, align 8
  %50 = getelementptr inbounds i8, ptr %17, i64 16
  store ptr %42, ptr %50, align 8
  %51 = getelementptr inbounds i8, ptr %17, i64 24
  store ptr %43, ptr %51, align 8
  %52 = getelementptr inbounds i8, ptr %17, i64 32
  store i64 %48, ptr %52, align 8
  %53 = getelementptr inbounds i8, ptr %17, i64 40
  store ptr %2, ptr %53, align 8
  %54 = icmp eq i32 %6, 0
  br i1 %54, label %55, label %56

55:                                               ; preds = %56, %26
  ret void

56:                                               ; preds = %26, %56
  %57 = phi i64 [ %70, %56 ], [ 0, %26 ]
  %58 = load ptr, ptr %7, align 8
  %59 = getelementptr inbounds %struct.tensor, ptr %58, i64 %57
  store ptr null, ptr %59, align 8
  %60 = getelementptr inbounds i8, ptr %59, i64 8
  store i32 1, ptr %60, align 8
  %61 = getelementptr inbounds i8, ptr %59, i64 12
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(10) %61, i8 0, i64 10, i1 false)
  %62 = getelementptr inbounds i8, ptr %59, i64 22
  store i16 1, ptr %62, align 2
  %63 = getelementptr inbounds i8, ptr %59, i64 24
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %63, i8 0, i64 24, i1 false)
  %64 = load ptr, ptr %13, align 8
  %65 = getelementptr inbounds %struct.argument, ptr %64, i64 %57
  %66 = load ptr, ptr %7, align 8
  %67 = getelementptr inbounds %struct.tensor, ptr %66, i64 %57
  store i32 7, ptr %65, align 8
  %68 = getelementptr inbounds i8, ptr %65, i64 4
  store i32 0, ptr %68, align 4
  %69 = getelementptr inbounds i8, ptr %65, i64 8
  store ptr %67, ptr %69, align 8
  %70 = add nuw nsw i64 %57, 1
  %71 = icmp eq i64 %70, %8
  br i1 %71, label %55, label %56, !llvm.loop !25
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #12

; Function Attrs: nounwind
define internal fastcc i32 @run_steps(ptr nocapture noundef readonly %0) unnamed_addr #0 {
  %2 = alloca %struct.argument, align 8
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.plan_code, ptr %3, i64 0, i32 2
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = getelementptr inbounds %struct.plan_code, ptr %3, i64 0, i32 3
  %9 = load i32, ptr %8, align 4
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds i32, ptr %7, i64 %10
  %12 = icmp eq i32 %9, 0
  br i1 %12, label %167, label %13

13:                                               ; preds = %1
  %14 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %16 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 2
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %18 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  %19 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  %20 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  %21 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  br label %22

22:                                               ; preds = %13, %163
  %23 = phi ptr [ %7, %13 ], [ %165, %163 ]
  %24 = load i32, ptr %23, align 4
  %25 = icmp eq i32 %24, 0
  %26 = getelementptr inbounds i32, ptr %23, i64 1
  %27 = load ptr, ptr %0, align 8
  br i1 %25, label %28, label %107

28:                                               ; preds = %22
  %29 = getelementptr inbounds %struct.plan_code, ptr %27, i64 0, i32 5
  %30 = load i32, ptr %29, align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr @model_plan, i64 %31
  %33 = load i32, ptr %26, align 4
  %34 = zext i32 %33 to i64
  %35 = getelementptr inbounds i32, ptr %32, i64 %34
  %36 = getelementptr inbounds %struct.plan_code, ptr %27, i64 0, i32 4
  %37 = load i32, ptr %36, align 8
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds i8, ptr @model_plan, i64 %38
  %40 = load i32, ptr %35, align 4
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #15
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %2, i8 0, i64 16, i1 false)
  %41 = getelementptr inbounds i32, ptr %23, i64 2
  %42 = load i32, ptr %41, align 4
  %43 = icmp eq i32 %42, 0
  br i1 %43, label %96, label %44

44:                                               ; preds = %28
  %45 = zext i32 %42 to i64
  br label %46

46:                                               ; preds = %72, %44
  %47 = phi i64 [ 0, %44 ], [ %94, %72 ]
  %48 = add nuw nsw i64 %47, 2
  %49 = and i64 %48, 4294967295
  %50 = getelementptr inbounds i32, ptr %26, i64 %49
  %51 = load i32, ptr %50, align 4
  %52 = zext i32 %51 to i64
  %53 = getelementptr inbounds %struct.plan_place, ptr %39, i64 %52
  %54 = load ptr, ptr %18, align 8
  %55 = getelementptr inbounds %struct.tensor, ptr %54, i64 %47
  %56 = load i32, ptr %53, align 8
  switch i32 %56, label %57 [
    i32 0, label %72
    i32 1, label %69
  ]

57:                                               ; preds = %46
  %58 = add i32 %56, -2
  %59 = icmp ult i32 %58, %15
  br i1 %59, label %60, label %64

60:                                               ; preds = %57
  %61 = load ptr, ptr %17, align 8
  %62 = zext i32 %58 to i64
  %63 = getelementptr inbounds %struct.model_buffer, ptr %61, i64 %62
  br label %69

64:                                               ; preds = %57
  %65 = load ptr, ptr %16, align 8
  %66 = sub i32 %58, %15
  %67 = zext i32 %66 to i64
  %68 = getelementptr inbounds %struct.model_buffer, ptr %65, i64 %67
  br label %69

69:                                               ; preds = %64, %60, %46
  %70 = phi ptr [ %68, %64 ], [ %63, %60 ], [ %14, %46 ]
  %71 = load ptr, ptr %70, align 8
  br label %72

72:                                               ; preds = %69, %46
  %73 = phi ptr [ @model_plan, %46 ], [ %71, %69 ]
  %74 = getelementptr inbounds %struct.plan_place, ptr %53, i64 0, i32 6
  %75 = load i64, ptr %74, align 8
  %76 = getelementptr inbounds i8, ptr %73, i64 %75
  store ptr %76, ptr %55, align 8
  %77 = getelementptr inbounds %struct.plan_place, ptr %39, i64 %52, i32 1
  %78 = load i32, ptr %77, align 4
  %79 = getelementptr inbounds %struct.tensor, ptr %54, i64 %47, i32 3
  store i32 %78, ptr %79, align 8
  %80 = getelementptr inbounds %struct.plan_place, ptr %39, i64 %52, i32 2
  %81 = load i8, ptr %80, align 8
  %82 = getelementptr inbounds %struct.tensor, ptr %54, i64 %47, i32 4
  store i8 %81, ptr %82, align 4
  %83 = getelementptr inbounds %struct.plan_place, ptr %39, i64 %52, i32 3
  %84 = load i8, ptr %83, align 1
  %85 = getelementptr inbounds %struct.tensor, ptr %54, i64 %47, i32 5
  store i8 %84, ptr %85, align 1
  %86 = getelementptr inbounds %struct.plan_place, ptr %39, i64 %52, i32 4
  %87 = load i16, ptr %86, align 2
  %88 = getelementptr inbounds %struct.tensor, ptr %54, i64 %47, i32 6
  store i16 %87, ptr %88, align 2
  %89 = getelementptr inbounds %struct.plan_place, ptr %39, i64 %52, i32 5
  %90 = load i32, ptr %89, align 4
  %91 = zext i32 %90 to i64
  %92 = getelementptr inbounds i8, ptr @model_plan, i64 %91
  %93 = getelementptr inbounds %struct.tensor, ptr %54, i64 %47, i32 7
  store ptr %92, ptr %93, align 8
  %94 = add nuw nsw i64 %47, 1
  %95 = icmp eq i64 %94, %45
  br i1 %95, label %96, label %46, !llvm.loop !26

96:                                               ; preds = %72, %28
  %97 = sext i32 %40 to i64
  %98 = getelementptr inbounds i8, ptr %35, i64 %97
  %99 = load ptr, ptr %19, align 8
  %100 = load ptr, ptr %20, align 8
  store ptr %99, ptr %100, align 8
  %101 = load ptr, ptr %21, align 8
  %102 = call i32 %98(ptr noundef null, ptr noundef %101, i32 noundef %42, ptr noundef nonnull %2) #17
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #15
  %103 = icmp eq i32 %102, 0
  br i1 %103, label %104, label %167

104:                                              ; preds = %96
  %105 = add i32 %42, 3
  %106 = zext i32 %105 to i64
  br label %163

107:                                              ; preds = %22
  %108 = getelementptr inbounds %struct.plan_code, ptr %27, i64 0, i32 4
  %109 = load i32, ptr %108, align 8
  %110 = zext i32 %109 to i64
  %111 = getelementptr inbounds i8, ptr @model_plan, i64 %110
  %112 = getelementptr inbounds i32, ptr %23, i64 2
  %113 = load i32, ptr %112, align 4
  %114 = zext i32 %113 to i64
  %115 = getelementptr inbounds %struct.plan_place, ptr %111, i64 %114
  %116 = load i32, ptr %115, align 8
  switch i32 %116, label %117 [
    i32 0, label %132
    i32 1, label %129
  ]

117:                                              ; preds = %107
  %118 = add i32 %116, -2
  %119 = icmp ult i32 %118, %15
  br i1 %119, label %120, label %124

120:                                              ; preds = %117
  %121 = load ptr, ptr %17, align 8
  %122 = zext i32 %118 to i64
  %123 = getelementptr inbounds %struct.model_buffer, ptr %121, i64 %122
  br label %129

124:                                              ; preds = %117
  %125 = load ptr, ptr %16, align 8
  %126 = sub i32 %118, %15
  %127 = zext i32 %126 to i64
  %128 = getelementptr inbounds %struct.model_buffer, ptr %125, i64 %127
  br label %129

129:                                              ; preds = %107, %124, %120
  %130 = phi ptr [ %128, %124 ], [ %123, %120 ], [ %14, %107 ]
  %131 = load ptr, ptr %130, align 8
  br label %132

132:                                              ; preds = %129, %107
  %133 = phi ptr [ @model_plan, %107 ], [ %131, %129 ]
  %134 = getelementptr inbounds %struct.plan_place, ptr %115, i64 0, i32 6
  %135 = load i64, ptr %134, align 8
  %136 = load i32, ptr %26, align 4
  %137 = zext i32 %136 to i64
  %138 = getelementptr inbounds %struct.plan_place, ptr %111, i64 %137
  %139 = load i32, ptr %138, align 8
  switch i32 %139, label %140 [
    i32 0, label %155
    i32 1, label %152
  ]

140:                                              ; preds = %132
  %141 = add i32 %139, -2
  %142 = icmp ult i32 %141, %15
  br i1 %142, label %143, label %147

143:                                              ; preds = %140
  %144 = load ptr, ptr %17, align 8
  %145 = zext i32 %141 to i64
  %146 = getelementptr inbounds %struct.model_buffer, ptr %144, i64 %145
  br label %152

147:                                              ; preds = %140
  %148 = load ptr, ptr %16, align 8
  %149 = sub i32 %141, %15
  %150 = zext i32 %149 to i64
  %151 = getelementptr inbounds %struct.model_buffer, ptr %148, i64 %150
  br label %152

152:                                              ; preds = %132, %147, %143
  %153 = phi ptr [ %151, %147 ], [ %146, %143 ], [ %14, %132 ]
  %154 = load ptr, ptr %153, align 8
  br label %155

155:                                              ; preds = %132, %152
  %156 = phi ptr [ @model_plan, %132 ], [ %154, %152 ]
  %157 = getelementptr inbounds i8, ptr %133, i64 %135
  %158 = getelementptr inbounds %struct.plan_place, ptr %138, i64 0, i32 6
  %159 = load i64, ptr %158, align 8
  %160 = getelementptr inbounds i8, ptr %156, i64 %159
  %161 = getelementptr inbounds %struct.plan_place, ptr %111, i64 %137, i32 7
  %162 = load i64, ptr %161, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %157, ptr align 1 %160, i64 %162, i1 false)
  br label %163

163:                                              ; preds = %155, %104
  %164 = phi i64 [ 3, %155 ], [ %106, %104 ]
  %165 = getelementptr inbounds i32, ptr %23, i64 %164
  %166 = icmp ult ptr %165, %11
  br i1 %166, label %22, label %167, !llvm.loop !27

167:                                              ; preds = %96, %163, %1
  %168 = phi i32 [ 0, %1 ], [ 0, %163 ], [ -10, %96 ]
  ret i32 %168
}

declare extern_weak i32 @pthread_join(i64 noundef, ptr noundef) local_unnamed_addr #5

; Function Attrs: nounwind
define internal void @run_task(ptr noundef %0, i32 noundef %1) #0 {
  %3 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 3
  %7 = load ptr, ptr %6, align 8
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds %struct.context, ptr %7, i64 %8
  %10 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 2
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 4
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %8
  %15 = getelementptr inbounds i8, ptr %11, i64 %14
  store ptr %15, ptr %9, align 8
  %16 = load ptr, ptr %0, align 8
  %17 = getelementptr inbounds %struct.context, ptr %16, i64 0, i32 4
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds i8, ptr %15, i64 %18
  %20 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 1
  store ptr %19, ptr %20, align 8
  %21 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 2
  store ptr null, ptr %21, align 8
  store ptr %9, ptr %3, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 1
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 3
  %25 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 2
  %26 = load ptr, ptr %25, align 8
  %27 = tail call i32 %23(i32 noundef %1, ptr noundef nonnull %24, ptr noundef %26) #17
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %31, label %29

29:                                               ; preds = %2
  %30 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %30 monotonic, align 8
  br label %31

31:                                               ; preds = %29, %2
  store ptr %4, ptr %3, align 8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare ptr @llvm.load.relative.i64(ptr, i64) #13

attributes #0 = { nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #8 = { nofree norecurse nosync nounwind memory(argmem: write) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #9 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: read, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #10 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #11 = { nofree nosync nounwind memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #12 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #13 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }
attributes #14 = { nobuiltin "no-builtins" }
attributes #15 = { nounwind }
attributes #16 = { nounwind memory(none) }
attributes #17 = { nobuiltin nounwind "no-builtins" }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = !{i64 3028}
!5 = !{i64 3534}
!6 = distinct !{!6, !3}
!7 = distinct !{!7, !3}
!8 = !{i64 80087}
!9 = !{i64 79419}
!10 = distinct !{!10, !3}
!11 = !{i64 79580}
!12 = distinct !{!12, !3}
!13 = distinct !{!13, !3}
!14 = distinct !{!14, !3}
!15 = distinct !{!15, !3}
!16 = distinct !{!16, !3}
!17 = distinct !{!17, !3}
!18 = distinct !{!18, !3}
!19 = distinct !{!19, !20}
!20 = !{!"llvm.loop.unroll.disable"}
!21 = distinct !{!21, !20}
!22 = distinct !{!22, !3}
!23 = distinct !{!23, !20}
!24 = distinct !{!24, !20}
!25 = distinct !{!25, !3}
!26 = distinct !{!26, !3}
!27 = distinct !{!27, !3}
